"""Whether this machine has what an offer needs, read from its capabilities."""

from collections.abc import Collection
from importlib.util import find_spec

from tfdist.errors import UnavailableError
from tfdist.plugins import Offer
from tfdist.selection.targets import tensorflow
from tfdist.specs import Spec


def obstacles(spec: Spec, device_types: Collection[str]) -> list[str]:
    """Say what an offer needs and this machine lacks; empty if nothing.

    Args:
        spec: The offer.
        device_types: Types of the devices that TensorFlow sees, such as `{"CPU", "GPU"}`.
    """
    needs = spec.capabilities
    lacking = [
        f"needs a {kind} and TensorFlow sees none (devices here: {', '.join(sorted(device_types))})"
        for kind in needs.hardware
        if kind not in device_types
    ]
    if not needs.hardware and not set(needs.devices) & set(device_types):
        lacking.append(f"runs on {' or '.join(needs.devices)} only, and TensorFlow sees none")
    lacking.extend(
        f"needs the Python module {module!r}, which is not installed"
        for module in needs.modules
        if not _is_installed(module)
    )
    return lacking


def require(offer: Offer[Spec]) -> None:
    """Check that this machine has what an offer says it cannot do without.

    Raises:
        UnavailableError: If it lacks something.
    """
    needs = offer.spec.capabilities
    if not needs.hardware and not needs.modules:
        return
    lacking = obstacles(offer.spec, device_types() if needs.hardware else needs.devices)
    if lacking:
        raise UnavailableError(
            f"{offer.spec.name!r} ({offer.plugin}) cannot be used on this machine. It "
            f"{'; it '.join(lacking)}. Choose another, or run where that is present; "
            "`tfdist doctor` lists what works here."
        )


def device_types() -> set[str]:
    """Return the types of the devices that TensorFlow sees, such as `{"CPU", "GPU"}`.

    Raises:
        TensorFlowMissingError: If TensorFlow is not installed.
    """
    config = tensorflow("Looking for devices").config
    return {device.device_type for device in config.list_physical_devices()}


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
