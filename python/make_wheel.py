"""Makes the wheel: hooks that pip calls (PEP 517), and a command for what is built already.

    python3 python/make_wheel.py BUILD_FOLDER FOLDER_OF_WHEELS

A wheel holds the package, the program of the core, the library and every shared library that they
need, but for glibc's. It needs CMake and the packages that `./dev build` installs, and nothing from PyPI.
Every Python 3 installs it: one that the extension was not built for has the commands of the program
(windtunnel/_extension.py).
"""

import base64
import glob
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGETS = ("windtunnel", "windtunnel_python")
METADATA = """\
Metadata-Version: 2.1
Name: windtunnel
Version: {version}
Summary: Predicts large training jobs before a cluster is rented
License-File: LICENSE
Requires-Python: >=3.9
Provides-Extra: frames
Requires-Dist: pandas; extra == "frames"
"""
ENTRY_POINTS = "[console_scripts]\nwindtunnel = windtunnel.program:main\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: windtunnel\nRoot-Is-Purelib: false\nTag: {tag}\n"


def version():
    """The one of the project."""
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(windtunnel VERSION ([0-9.]+)", file.read()).group(1)


def run(*command):
    subprocess.run(command, check=True, stdout=sys.stderr)


def installed(build, stage):
    """The component of the build, the modules beside it, and the libraries that both need."""
    run("cmake", "--install", build, "--strip", "--component", "wheel", "--prefix", stage)
    package = os.path.join(stage, "windtunnel")
    for pattern in ("*.py", "*.pyi", "py.typed"):
        for path in glob.glob(os.path.join(SOURCE, "python", "windtunnel", pattern)):
            shutil.copy(path, package)
    programs = glob.glob(os.path.join(package, "bin", "*"))
    libraries = os.path.join(package, "lib")
    for path in glob.glob(os.path.join(libraries, "*")):
        if os.path.islink(path):  # a wheel has none: once, by the name that it is loaded under
            os.replace(os.path.realpath(path), path)
    with tempfile.TemporaryDirectory() as folder:
        needed = os.path.join(folder, "needed")
        run("cmake", f"-DPROGRAM={';'.join(programs)}", f"-DFOLDER={needed}", "-P",
            os.path.join(SOURCE, "cmake", "carry_libraries.cmake"))
        shutil.copytree(needed, libraries, dirs_exist_ok=True)
    return package


def tag_of(package):
    """Of any Python 3, and of the kind of machine that the extension names."""
    name = os.path.basename(glob.glob(os.path.join(package, "_windtunnel.*.so"))[0])
    machine = re.match(r"_windtunnel\.cpython-\d+-(\w+)-linux", name).group(1)
    return f"py3-none-linux_{machine}"


def packed(stage, path):
    """The folder as a wheel: in order of names and without times, so that equal files are equal
    wheels."""
    files = sorted(os.path.relpath(os.path.join(folder, name), stage)
                   for folder, _, names in os.walk(stage) for name in names)
    record = next(name for name in files if name.endswith("RECORD"))
    files.remove(record)
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)

        for name in files:
            full = os.path.join(stage, name)
            with open(full, "rb") as file:
                content = file.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            lines.append(f"{name},sha256={digest.decode()},{len(content)}\n")
            add(name, content, 0o100755 if os.access(full, os.X_OK) else 0o100644)
        add(record, "".join(lines) + f"{record},,\n", 0o100644)


def make_wheel(build, folder):
    """The wheel of a build folder that has the TARGETS. Returns its file name."""
    with tempfile.TemporaryDirectory() as stage:
        return with_metadata(stage, tag_of(installed(build, stage)), folder)


def make_editable(build, folder):
    """A wheel that points at a folder of the build (PEP 660): the modules there are links to those of
    the source tree, the compiled parts those of the build."""
    stage = os.path.join(os.path.abspath(build), "editable")
    shutil.rmtree(stage, ignore_errors=True)
    package = installed(build, stage)
    for path in glob.glob(os.path.join(SOURCE, "python", "windtunnel", "*.py")):
        link = os.path.join(package, os.path.basename(path))
        os.remove(link)
        os.symlink(path, link)
    with tempfile.TemporaryDirectory() as pointer:
        with open(os.path.join(pointer, "windtunnel.pth"), "w", encoding="utf-8") as file:
            file.write(stage + "\n")
        return with_metadata(pointer, tag_of(package), folder)


def with_metadata(stage, tag, folder):
    """Packs what a stage holds, with what says so of it. Returns the wheel's file name."""
    name = f"windtunnel-{version()}"
    info = os.path.join(stage, name + ".dist-info")
    os.mkdir(info)
    shutil.copy(os.path.join(SOURCE, "LICENSE"), info)
    for file, text in (("METADATA", METADATA.format(version=version())),
                       ("entry_points.txt", ENTRY_POINTS), ("WHEEL", WHEEL.format(tag=tag)),
                       ("RECORD", "")):
        with open(os.path.join(info, file), "w", encoding="utf-8") as made:
            made.write(text)
    os.makedirs(folder, exist_ok=True)
    packed(stage, os.path.join(folder, f"{name}-{tag}.whl"))
    return f"{name}-{tag}.whl"


def build_folder(config_settings):
    """It is kept for the next time: the `build-dir` of the settings, or in the source tree one for
    each Python, whose extension it has: build/pip-cpython-311."""
    own = os.path.join(SOURCE, "build", f"pip-{sys.implementation.cache_tag}")
    return (config_settings or {}).get("build-dir", own)


def built(config_settings):
    """The build_folder(), with the TARGETS as they are now."""
    build = build_folder(config_settings)
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        # As the preset `core`, which the tests run, for the Python that asks.
        run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DWINDTUNNEL_VALIDATE=OFF",
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1",
            f"-DPython_EXECUTABLE={sys.executable}")
    run("cmake", "--build", build, "--target", *TARGETS)
    return build


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517, in the build_folder()."""
    del metadata_directory
    return make_wheel(built(config_settings), wheel_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 660, in the build_folder()."""
    del metadata_directory
    return make_editable(built(config_settings), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the files that git tracks, as they are in the source tree. RuntimeError where the
    tree is no clone."""
    del config_settings
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=False,
                            capture_output=True, text=True)
    if listed.returncode != 0 or not listed.stdout:
        raise RuntimeError("a source distribution is made of the files that git tracks, and "
                           f"{SOURCE} is no clone of the repository: {listed.stderr.strip()}")
    name = f"windtunnel-{version()}"
    metadata = METADATA.format(version=version()).encode()
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz",
                      format=tarfile.PAX_FORMAT) as packed_tree:
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(metadata)
        packed_tree.addfile(entry, io.BytesIO(metadata))
        for path in listed.stdout.split("\0"):
            full = os.path.join(SOURCE, path)
            if path and os.path.lexists(full):  # one that was deleted is still tracked
                packed_tree.add(full, f"{name}/{path}", recursive=False)
    return name + ".tar.gz"


if __name__ == "__main__":
    print(make_wheel(sys.argv[1], sys.argv[2]))
