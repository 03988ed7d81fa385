"""The wheel holds what it should and works in a fresh environment, from another folder, without extras."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGES = {"simsched", "simsched_modules", "simsched_cpp"}
# what only the extras bring: the core must run without them (SciPy comes with numpy-quaternion)
EXTRAS_ALONE = ("pyarrow", "pandas", "h5py", "mcap")

# building, and installing numpy and the rest from the index
pytestmark = pytest.mark.timeout(300)


def run(*command: str | Path, folder: Path) -> str:
    """What a command printed; a failing one fails the test with all that it said."""
    foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        folder,
        project_root,
        folder=folder,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def fresh_venv(wheel: Path, project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel and what it says that it depends on, nothing else."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    pip = (folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--constraint", project_root / "constraints.txt", wheel, folder=folder)
    return folder / "venv"


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    info = {top for top in tops if top.endswith(".dist-info")}
    assert len(info) == 1
    assert tops - info == PACKAGES
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".arrows"))]


def test_the_wheel_says_that_it_is_typed_and_how_it_is_licensed(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_every_source_file_is_in_the_wheel(wheel: Path, project_root: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    folders = (project_root, project_root / "modules", project_root / "cpp_bridge")
    wanted = {
        str(file.relative_to(folder))
        for folder in folders
        for package in PACKAGES
        for file in (folder / package).rglob("*.py")
    }
    assert wanted <= held


def test_all_packages_import_from_another_folder(fresh_venv: Path, tmp_path: Path) -> None:
    code = "import simsched, simsched_modules, simsched_cpp; print(simsched_modules.__file__)"
    printed = run(fresh_venv / "bin/python", "-W", "error", "-c", code, folder=tmp_path)
    assert str(fresh_venv.resolve()) in str(Path(printed.strip()).resolve())


def test_all_packages_import_in_the_environment_of_the_tests(tmp_path: Path) -> None:
    code = "import simsched, simsched_modules, simsched_cpp"
    run(sys.executable, "-I", "-W", "error", "-c", code, folder=tmp_path)


def test_the_version_is_stated_once(wheel: Path, fresh_venv: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.metadata as m, simsched._version as v; print(m.version('simsched'), v.__version__)"
    )
    of_package, of_code = run(fresh_venv / "bin/python", "-c", code, folder=tmp_path).split()
    assert of_package == of_code
    assert wheel.name.startswith(f"simsched-{of_code}-")


def test_the_core_brings_none_of_the_extras(fresh_venv: Path, tmp_path: Path) -> None:
    code = f"import importlib.util as u; print([n for n in {EXTRAS_ALONE!r} if u.find_spec(n)])"
    assert run(fresh_venv / "bin/python", "-c", code, folder=tmp_path).strip() == "[]"


def test_an_example_runs_from_another_folder(fresh_venv: Path, project_root: Path, tmp_path: Path) -> None:
    example = tmp_path / "example"
    shutil.copytree(project_root / "examples/two_modules", example)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    printed = run(
        fresh_venv / "bin/simsched", "run", example / "scenario.py", "--no-record", folder=elsewhere
    )
    assert printed.strip()
    assert list(elsewhere.iterdir()) == []
