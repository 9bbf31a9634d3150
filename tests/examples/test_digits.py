"""The demo: its command line, its numbers, its table and its plot."""

import numpy as np
import pytest
from click.testing import CliRunner
from examples.data import digits
from examples.digits.cli import main
from examples.digits.report import largest_difference, results_table, save_plot
from examples.digits.timing import Stopwatch
from examples.digits.training import Run, Settings, train

import tfdist

RUN = Run(
    title="mirrored",
    device_count=2,
    loss=[1.0, 0.5],
    test_loss=[0.9, 0.4],
    test_accuracy=[0.8, 0.99],
    examples_per_s=1234.0,
    first_step_s=1.5,
)


def test_the_digits_are_split_in_proportion():
    data = digits(seed=3)
    assert data.train_images.shape == (1437, 8, 8, 1)
    assert data.test_images.shape == (360, 8, 8, 1)
    assert 0 <= data.train_images.min() < data.train_images.max() <= 1
    counts = np.bincount(data.test_labels)
    assert counts.min() >= 34
    assert counts.max() <= 38


def test_two_devices_have_the_curves_of_one():
    settings = Settings(epochs=1, batch_size=64, seed=0)  # the last batch has 29 images: 15 + 14
    data = digits()
    two = train("two", tfdist.strategy("mirrored", devices=["CPU:0", "CPU:1"]), data, settings)
    one = train("one", tfdist.strategy("one_device", device="CPU:0"), data, settings)
    np.testing.assert_allclose(two.loss, one.loss, rtol=1e-3)
    np.testing.assert_allclose(two.test_loss, one.test_loss, rtol=1e-2)
    assert two.device_count == 2
    assert two.examples_per_s > 0
    assert two.first_step_s > 0


def test_the_demo_writes_its_plot_and_fails_below_97_percent(tmp_path):
    arguments = [
        "--devices",
        "2",
        "--epochs",
        "1",
        "--batch",
        "256",
        "--out",
        str(tmp_path / "new"),
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1, result.output
    assert "below the 97%" in result.output
    assert "Largest difference" in " ".join(result.output.split())
    assert (tmp_path / "new" / "digits.png").stat().st_size > 10_000


def test_the_demo_names_a_mistyped_strategy(tmp_path):
    result = CliRunner().invoke(main, ["--strategy", "mirored", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "mirrored" in result.output


def test_the_table_has_a_row_for_each_run():
    table = results_table([RUN, RUN._replace(title="one device", device_count=1)])
    assert table.row_count == 2
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["mirrored", "2", "1,234", "1.5 s", "0.50000", "0.40000", "99.00%"]


def test_the_plot_is_a_png(tmp_path):
    save_plot([RUN, RUN], tmp_path / "deep" / "plot.png")
    assert (tmp_path / "deep" / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_curves_of_different_length_are_not_compared():
    assert largest_difference([1.0, 2.0], [1.5, 2.25]) == 0.5
    with pytest.raises(ValueError, match="longer"):
        largest_difference([1.0], [1.0, 2.0])


def test_the_first_step_and_the_evaluation_do_not_count(monkeypatch):
    seconds = iter([0.0, 10.0, 11.0, 12.0, 50.0, 51.0, 52.0, 53.0])
    monkeypatch.setattr("examples.digits.timing.time.perf_counter", lambda: next(seconds))
    watch = Stopwatch(example_count=25, batch_size=10)
    for epoch in range(2):  # 10 + 10 + 5 examples each; evaluation from 12 s to 50 s
        watch.on_epoch_begin(epoch)
        for batch in range(3):
            watch.on_train_batch_end(batch)
    assert watch.first_step_s == 10.0
    assert watch.examples_per_s == (15 + 25) / (2 + 3)
