"""Compiles .cu files with nvcc and with NVRTC 12 and 13 for every GPU generation that is supported. Needs no GPU.

usage: compile_cuda.py FILE...      nvcc and both NVRTC libraries come from the nvidia wheels of this Python
"""

import ctypes
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ARCHITECTURES = ["80", "86", "89", "90"]
WHEELS = pathlib.Path(sysconfig.get_path("purelib")) / "nvidia"
INCLUDES = {"12": WHEELS / "cuda_runtime" / "include", "13": WHEELS / "cu13" / "include"}
LIBRARIES = {"12": WHEELS / "cuda_nvrtc" / "lib" / "libnvrtc.so.12", "13": WHEELS / "cu13" / "lib" / "libnvrtc.so.13"}


def nvcc(source, architecture):
    with tempfile.TemporaryDirectory() as folder:
        command = [WHEELS / "cu13" / "bin" / "nvcc", "-std=c++17", "-Inative", "-cubin", f"-arch=sm_{architecture}"]
        run = subprocess.run([*command, "-o", f"{folder}/out", source], capture_output=True, text=True)
        return None if run.returncode == 0 else run.stdout + run.stderr


def nvrtc(version, source, architecture):
    library = ctypes.CDLL(str(LIBRARIES[version]))
    program = ctypes.c_void_p()
    text = pathlib.Path(source).read_bytes()
    created = library.nvrtcCreateProgram(ctypes.byref(program), text, str(source).encode(), 0, None, None)
    if created != 0:
        return f"nvrtcCreateProgram gave {created}"
    options = ["--std=c++17", f"--gpu-architecture=sm_{architecture}", "-Inative", f"-I{INCLUDES[version]}"]
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = library.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return None if status == 0 else log.value.decode()


failed = 0
for source in sys.argv[1:]:
    for architecture in ARCHITECTURES:
        compilers = {"nvcc": lambda: nvcc(source, architecture)}
        for version in LIBRARIES:
            compilers[f"NVRTC {version}"] = lambda version=version: nvrtc(version, source, architecture)
        for name, compile_one in compilers.items():
            problem = compile_one()
            failed += problem is not None
            print(f"{'ok' if problem is None else 'FAILED':6} {name:8} sm_{architecture} {source}" + (f"\n{problem}" if problem else ""))
sys.exit(1 if failed else 0)
