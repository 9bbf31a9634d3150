"""Going around functions of another library."""

import inspect

from tfdist.integrations.keras.patching import around, around_in_subclasses


def double(original, *args, **kwargs):
    return 2 * original(*args, **kwargs)


def test_around_calls_the_replacement_once():
    class Library:
        def value(self, x, y=1):
            return x + y

    around(Library, "value", double)
    around(Library, "value", double)
    assert Library().value(3, y=4) == 14
    assert list(inspect.signature(Library.value).parameters) == ["self", "x", "y"]


def test_around_in_classes_that_exist_and_that_come():
    class Base:
        def result(self):
            return 1

    class Early(Base):
        def result(self):
            return 10

    class Heir(Early):
        pass

    around_in_subclasses(Base, "result", double)

    class Late(Base):
        def result(self):
            return 100

    assert [cls().result() for cls in (Base, Early, Heir, Late)] == [2, 20, 20, 200]
