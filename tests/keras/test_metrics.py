"""Metrics: logs of batches and epochs have the values over all replicas."""

import keras
import numpy as np
from keras import ops
from tests.keras.helpers import X, Y, assert_same_numbers, compiled, dense, fit, in_scope


class Examples(keras.metrics.Metric):
    """Counts examples in an integer, and says the mean prediction beside it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.count = self.add_variable((), "zeros", dtype="int64", name="count")
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign_add(ops.cast(ops.shape(y_pred)[0], "int64"))
        self.total.assign_add(ops.sum(y_pred))

    def result(self):
        return {"count": self.count, "ratio": self.total / ops.cast(self.count, "float32")}


class BatchLogs(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.logs = []

    def on_train_batch_end(self, batch, logs=None):
        self.logs.append(dict(logs))

    def on_test_batch_end(self, batch, logs=None):
        self.logs.append(dict(logs))


def test_batch_logs_and_epoch_logs(strategy):
    def run(strategy):
        model = in_scope(dense(metrics=["mae", Examples], weighted_metrics=["mse"]), strategy)
        seen = BatchLogs()
        result = fit(model, callbacks=[seen], validation_data=(X, Y), validation_batch_size=3)
        for name in ("loss", "mae", "count", "ratio", "mse"):
            result[f"batch {name}"] = [float(logs[name]) for logs in seen.logs]
        return result

    assert_same_numbers(run, strategy)


def test_metrics_that_are_no_means(strategy):
    labels = (Y[:, :1] > 0).astype("float32")

    def build():
        inputs = keras.Input((3,))
        outputs = keras.layers.Dense(1, activation="sigmoid")(inputs)
        metrics = [
            keras.metrics.AUC(name="auc"),
            keras.metrics.Precision(name="precision"),
            keras.metrics.FalsePositives(name="fp"),
            keras.metrics.R2Score(name="r2"),
            keras.metrics.MeanSquaredError(name="mse"),
            keras.metrics.RootMeanSquaredError(name="rmse"),
        ]
        return compiled(keras.Model(inputs, outputs), loss="bce", metrics=metrics)

    def run(strategy):
        model = in_scope(build, strategy)
        result = fit(model, y=labels)
        result["evaluate"] = model.evaluate(X, labels, batch_size=7, verbose=0)
        return result

    assert_same_numbers(run, strategy)


def test_values_made_of_results_in_a_step_of_the_user(mirrored):
    class Derived(keras.Model):
        def test_step(self, data):
            x, y = data
            logs = self.compute_metrics(x, y, self(x), None)
            return {"twice": 2 * logs["mae"], "sum": logs["mae"] + self.metrics[0].result()}

    def build():
        inputs = keras.Input((3,))
        return compiled(Derived(inputs, keras.layers.Dense(2)(inputs)))

    def run(strategy):
        model = in_scope(build, strategy)
        return model.evaluate(X, Y, batch_size=7, verbose=0, return_dict=True)

    assert_same_numbers(run, mirrored)


def test_integer_metric_variable_keeps_its_type(mirrored):
    model = in_scope(dense(metrics=[Examples]), mirrored)
    fit(model, epochs=1)
    metric = next(m for m in model.metrics if hasattr(m, "metrics")).metrics[0]
    counts = [np.asarray(metric.result()["count"]) for _ in range(2)]
    assert [int(count) for count in counts] == [10, 10]
    assert {count.dtype for count in counts} == {np.dtype("int64")}
