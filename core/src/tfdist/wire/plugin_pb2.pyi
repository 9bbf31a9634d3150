from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
PLUGIN_STATE_BROKEN: PluginState
PLUGIN_STATE_DISABLED: PluginState
PLUGIN_STATE_INCOMPATIBLE: PluginState
PLUGIN_STATE_LOADED: PluginState
PLUGIN_STATE_UNSPECIFIED: PluginState

class ApiVersion(_message.Message):
    __slots__ = ["major", "minor"]
    MAJOR_FIELD_NUMBER: _ClassVar[int]
    MINOR_FIELD_NUMBER: _ClassVar[int]
    major: int
    minor: int
    def __init__(self, major: _Optional[int] = ..., minor: _Optional[int] = ...) -> None: ...

class PluginInfo(_message.Message):
    __slots__ = ["api_range", "distribution", "editable", "error", "hooks", "name", "state", "version"]
    API_RANGE_FIELD_NUMBER: _ClassVar[int]
    DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    EDITABLE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    api_range: str
    distribution: str
    editable: bool
    error: str
    hooks: _containers.RepeatedScalarFieldContainer[str]
    name: str
    state: PluginState
    version: str
    def __init__(self, name: _Optional[str] = ..., distribution: _Optional[str] = ..., version: _Optional[str] = ..., api_range: _Optional[str] = ..., hooks: _Optional[_Iterable[str]] = ..., state: _Optional[_Union[PluginState, str]] = ..., error: _Optional[str] = ..., editable: bool = ...) -> None: ...

class PluginList(_message.Message):
    __slots__ = ["api", "plugins"]
    API_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    api: ApiVersion
    plugins: _containers.RepeatedCompositeFieldContainer[PluginInfo]
    def __init__(self, api: _Optional[_Union[ApiVersion, _Mapping]] = ..., plugins: _Optional[_Iterable[_Union[PluginInfo, _Mapping]]] = ...) -> None: ...

class PluginState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
