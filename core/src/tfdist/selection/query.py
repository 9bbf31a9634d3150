"""The text form of a choice: `name`, or `name?option=value&option=value`."""

from urllib.parse import unquote

from attrs import field, frozen

from tfdist.errors import OptionError


@frozen
class Query:
    """A name and options, the options still as text."""

    name: str
    options: dict[str, str] = field(factory=dict)


def parse(text: str) -> Query:
    """Read the text form, such as `mirrored?devices=CPU:0,CPU:1`.

    A `&`, `=` or `%` inside a value is written as in a URL (`%26`, `%3D`, `%25`).

    Raises:
        OptionError: If the name is empty, or an option has no value or comes twice.
    """
    name, mark, query = text.strip().partition("?")
    if not name:
        raise _unreadable(text, "there is no name")
    options: dict[str, str] = {}
    for part in query.split("&") if mark else ():
        option, equals, value = part.partition("=")
        if not option or not equals:
            raise _unreadable(text, f"{part!r} is not 'option=value'")
        if option in options:
            raise _unreadable(text, f"the option {option!r} comes twice")
        options[option] = unquote(value)
    return Query(unquote(name), options)


def _unreadable(text: str, why: str) -> OptionError:
    return OptionError(
        f"The choice {text!r} cannot be read. In it {why}; expected 'name' or "
        "'name?option=value&option=value'. Write it as in 'mirrored?devices=CPU:0,CPU:1'."
    )
