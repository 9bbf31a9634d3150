"""Running the command line in this process."""

import json
from typing import Any

import pytest
from attrs import frozen

from tfdist.cli import main


@frozen
class Result:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Tfdist:
    """Calls `tfdist ...`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Result:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = self._capsys.readouterr()
        return Result(int(ended.value.code or 0), out, err)


@pytest.fixture
def tfdist_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tfdist:
    monkeypatch.setenv("COLUMNS", "90")
    return Tfdist(capsys)
