"""Do the examples in the documentation do what they say, those of native classes too?"""

import doctest
import importlib
import inspect
import pkgutil

import pytest
import ssdlab

MODULES = [name for _, name, _ in pkgutil.iter_modules(ssdlab.__path__) if "pytest" not in name]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples(name: str) -> None:
    if name == "_sweep":
        pytest.importorskip("pyarrow")
    module = importlib.import_module(f"ssdlab.{name}".rstrip("."))
    if name == "_native":
        failed, tried = native()
        assert tried >= 15
    else:
        failed, tried = doctest.testmod(module, optionflags=FLAGS)
    assert failed == 0


def native() -> "tuple[int, int]":
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    parser = doctest.DocTestParser()
    for kind in (ssdlab.CrashDisk, ssdlab.Report):
        texts = {kind.__name__: kind.__doc__}
        texts.update({name: inspect.getdoc(value) for name, value in vars(kind).items()})
        for name, text in texts.items():
            runner.run(parser.get_doctest(text or "", {}, name, None, 0))
    result = runner.summarize()
    return result.failed, result.attempted


def test_everything_public_is_documented() -> None:
    for name in ssdlab.__all__:
        thing = getattr(ssdlab, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
            members = vars(thing) if inspect.isclass(thing) else {}
            for member in (name for name in members if not name.startswith("_")):
                value = inspect.getattr_static(thing, member)
                if callable(value) or isinstance(value, property):
                    assert inspect.getdoc(value), f"{name}.{member}"
