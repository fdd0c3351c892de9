/** Python source, third part of the supervisor: turns the forked child into a program like one that python3 started. */
export const PROGRAM_SOURCE = String.raw`
import atexit, builtins, base64, gc, traceback, types, threading


# How a program's process ends.
leave = os._exit


def attach_streams(inputs, outputs, errors):
    os.dup2(inputs, 0)
    os.dup2(outputs, 1)
    os.dup2(errors, 2)


def fill_folder(folder, files):
    try:
        os.mkdir(folder)
    except FileExistsError:
        pass
    os.chdir(folder)
    for path, data in files.items():
        directory = os.path.dirname(path)
        if directory:
            os.makedirs(directory, exist_ok=True)
        with open(path, 'wb') as handle:
            handle.write(base64.b64decode(data))


def reseed():
    """A forked numpy would give every program the same random numbers."""
    numpy = sys.modules.get('numpy')
    if numpy is not None:
        numpy.random.seed()


def finish(code):
    """What the interpreter does at its end, without the slow part."""
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        main = sys.modules.get('__main__')
        if main is not None:
            main.__dict__.clear()
    except BaseException:
        traceback.print_exc()
    for handle in (sys.stdout, sys.stderr):
        try:
            handle.flush()
        except BaseException:
            code = code or 120
    leave(code)


def exit_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    try:
        print(value, file=sys.stderr)
    except BaseException:
        pass
    return 1


def run_program(folder, code):
    path = os.path.join(folder, 'main.py')
    with open(path, 'wb') as handle:
        handle.write(code.encode('utf-8', 'surrogatepass'))
    main = types.ModuleType('__main__')
    main.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None)
    sys.modules['__main__'] = main
    sys.argv = [path]
    sys.path.insert(0, folder)
    reseed()
    result = 0
    try:
        exec(compile(code, path, 'exec', dont_inherit=True), main.__dict__)
    except SystemExit as error:
        result = exit_code(error.code)
    except MemoryError as error:
        print_error(error)
        end_for_memory()
    except BaseException as error:
        print_error(error)
        result = 130 if isinstance(error, KeyboardInterrupt) else 1
    finish(result)


def print_error(error):
    trace = error.__traceback__
    error.__traceback__ = trace.tb_next if trace is not None else None
    try:
        sys.stdout.flush()
        sys.excepthook(type(error), error, error.__traceback__)
        sys.stderr.flush()
    except BaseException:
        pass  # a program that broke its own streams has no place to report to
`;
