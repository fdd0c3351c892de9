/** Python source, fifth part of the supervisor: the verdict, from what the process with the tests reported and how it ended. */
export const JUDGE_SOURCE = String.raw`
import hashlib


def read_reports(data, key):
    """(list of (kind, name, message), True when nobody else wrote)"""
    found, clean = [], True
    lines = bytes(data).split(b'\n')
    if lines.pop() != b'':
        clean = False
    signer = hashlib.blake2b(key=key, digest_size=32)
    for index, line in enumerate(lines):
        seal, _, body = line.partition(b' ')
        expected = signer.copy()
        expected.update(body)
        if seal != expected.hexdigest().encode():
            return found, False
        position, kind, name, message = body.decode().split(' ')
        if int(position) != index:
            return found, False
        found.append((kind, bytes.fromhex(name).decode(), bytes.fromhex(message).decode()))
    return found, clean


def judge(job, plan, watch, data, key):
    """The verdict, from signed reports and from how the child ended."""
    reports, clean = read_reports(data, key)
    status, code = watch.verdict()
    failures, passed, ran = [], set(), 0
    for kind, name, message in reports:
        if kind in ('pass', 'fail', 'skip'):
            ran += name not in ('solution', 'test code', 'tests')
        if kind == 'pass':
            passed.add(name)
        elif kind in ('fail', 'exit'):
            if kind == 'fail' or not failures:
                failures.append({'name': name, 'message': message})
    if status == 'timeout':
        return {'status': 'timeout', 'testsRun': ran, 'failures': failures}
    failed = {item['name'] for item in failures}
    missing = [name for name in plan['expected'] if name not in passed and name not in failed]
    if not clean:
        failures.append({'name': 'tests', 'message': 'something else than the tests wrote to the channel of the verdict'})
    elif status == 'memory':
        failures.append({'name': 'tests', 'message': 'used more than %d MB of memory' % watch.limits['memoryMb']})
    elif status == 'output':
        failures.append({'name': 'tests', 'message': 'reported more than the channel of the verdict holds'})
    elif not any(kind == 'done' for kind, _, _ in reports):
        how = 'exit code %d' % code if code is not None else 'a signal'
        failures.append({'name': missing[0] if missing else 'tests',
                         'message': 'the program ended (%s) before its tests were finished' % how})
    elif missing and not failures:
        failures += [{'name': name, 'message': 'was not run to its end'} for name in missing[:10]]
    elif not plan['expected'] or ran == 0:
        if not failures:
            failures.append({'name': 'tests', 'message': 'no test was found'})
    good = [name for name in plan['expected'] if name in passed and name not in failed]
    return {'status': 'fail' if failures else 'pass', 'testsRun': ran, 'failures': failures[:10],
            'testsFound': len(plan['expected']), 'testsPassed': len(good)}
`;
