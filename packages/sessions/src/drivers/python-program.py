# The Python side of a session. Arguments: the work file, the state file, the command's number, names of secrets.
#
# The namespace is kept as one pickle, so that two names for one list stay two names for one list.
# Functions and classes made in the session are stored as their compiled code; modules as their name.
#
# Handed to python3 as its -c argument; the build puts the text into the package.

import ast, atexit, gc, importlib, io, json, linecache, marshal, os, pickle, sys, traceback, types

work, state_path, number, hidden = sys.argv[1:5]
hidden = set(hidden.split(','))
secrets = [value for value in (os.environb.get(os.fsencode(name), b'') for name in hidden) if len(value) >= 6]
sys.argv = ['']
sys.path[0] = ''
main = types.ModuleType('__main__')
sys.modules['__main__'] = main
namespace = main.__dict__
sources = {}
initial = set(namespace) | {'__builtins__'}


# Returns False when stored variables could not be read: then the stored file must stay.
def restore():
    try:
        with open(state_path, 'rb') as file:
            version, saved_sources, payload = pickle.load(file)
    except FileNotFoundError:
        return True
    if version != sys.version:
        print('[session] The variables were saved by another Python and are gone: ' + version, file=sys.stderr)
        return True
    for name, text in saved_sources.items():
        remember_source(name, text)
    try:
        namespace.update(load(payload))
    except BaseException as error:
        print(
            f'[session] The variables could not be restored: {error!r}. They stay stored, and what this command '
            'assigns is not kept. If a module has changed, fix it; otherwise start a new session.', file=sys.stderr,
        )
        return False
    return True


def remember_source(name, text):
    sources[name] = text
    linecache.cache[name] = (len(text), None, [line + '\n' for line in text.splitlines()], name)


def run(text):
    name = f'<session:{number}>'
    remember_source(name, text)
    try:
        tree = ast.parse(text, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, 'exec'), namespace)
        if last is not None:
            sys.displayhook(eval(compile(ast.Expression(last.value), name, 'eval'), namespace))
        return 0
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xff
        open_streams()
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        open_streams()
        trace = error.__traceback__.tb_next if not isinstance(error, SyntaxError) else None
        traceback.print_exception(type(error), error, trace)
        return 130 if isinstance(error, KeyboardInterrupt) else 1


def is_ours(value):
    return getattr(value, '__module__', None) == '__main__'


def is_written(name, member):
    # Whether the user wrote a method of an enum or named tuple: Python makes the others anew.
    function = getattr(member, '__func__', getattr(member, 'fget', member))
    return getattr(getattr(function, '__code__', None), 'co_filename', '').startswith('<session:')


def make_function(code, module, name, defaults, keyword_defaults, closure, extra):
    cells = None if closure is None else tuple(closure)
    own = vars(importlib.import_module(module))
    function = types.FunctionType(marshal.loads(code), own, name, defaults, cells)
    function.__kwdefaults__ = keyword_defaults
    function.__qualname__, function.__doc__, function.__annotations__, attributes = extra
    function.__dict__.update(attributes)
    function.__module__ = '__main__'
    return function


def empty_cell():
    return types.CellType()


def fill_cell(cell, contents):
    if contents:
        cell.cell_contents = contents[0]


def make_class(meta, name, bases, slots):
    members = {'__module__': '__main__', '__qualname__': name}
    if slots is not None:
        members['__slots__'] = slots
    return types.new_class(name, bases, {'metaclass': meta}, lambda body: body.update(members))


def fill_class(cls, members):
    for name, value in members.items():
        if name == '__init_subclass__':
            hooks.append((cls, value))
        else:
            setattr(cls, name, value)


def make_enum(meta, name, bases, values):
    body = meta.__prepare__(name, bases)
    body['__module__'] = '__main__'
    for key, value in values.items():
        body[key] = value
    return meta.__new__(meta, name, bases, body)


def make_namedtuple(name, fields, defaults):
    import collections
    return collections.namedtuple(name, fields, defaults=defaults, module='__main__')


def make_proxy(mapping):
    return types.MappingProxyType(mapping)


def make_cached(function, parameters):
    import functools
    return functools.lru_cache(**parameters)(function)


def make_type_variable(name, constraints, options):
    import typing
    variable = typing.TypeVar(name, *constraints, **options)
    variable.__module__ = '__main__'
    return variable


# A hook for subclasses ran when they were made, so it is restored only after all of them.
hooks = []


def load(payload):
    hooks.clear()
    values = pickle.loads(payload)
    for cls, hook in hooks:
        cls.__init_subclass__ = hook
    return values


HELPERS = [make_proxy, make_cached, make_type_variable, make_function, empty_cell, fill_cell, make_class, fill_class, make_enum, make_namedtuple]
SKIPPED = {
    '__dict__', '__weakref__', '__module__', '__qualname__', '__slots__', '_abc_impl',
    '__static_attributes__', '__firstlineno__',
}
METHODS = (types.FunctionType, classmethod, staticmethod, property)
helpers = types.ModuleType('_delta_session')
for helper in HELPERS:
    helper.__module__ = '_delta_session'
    setattr(helpers, helper.__name__, helper)
sys.modules['_delta_session'] = helpers


class Pickler(pickle.Pickler):
    def reducer_override(self, value):
        if isinstance(value, types.FunctionType) and is_ours(value):
            return self.function(value)
        if isinstance(value, types.CellType):
            try:
                contents = (value.cell_contents,)
            except ValueError:
                contents = ()
            return empty_cell, (), contents, None, None, fill_cell
        if isinstance(value, type) and is_ours(value):
            return self.user_class(value)
        if isinstance(value, types.ModuleType):
            if value is main:
                return importlib.import_module, ('__main__',)
            return importlib.import_module, (value.__name__,)
        if isinstance(value, (classmethod, staticmethod)):
            return type(value), (value.__func__,)
        if isinstance(value, property):
            return property, (value.fget, value.fset, value.fdel, value.__doc__)
        if isinstance(value, types.MappingProxyType):
            return make_proxy, (dict(value),)
        if type(value).__module__ == 'dataclasses':
            return self.sentinel(value)
        if type(value).__name__ == '_lru_cache_wrapper' and is_ours(value):
            return make_cached, (value.__wrapped__, value.cache_parameters())
        if type(value).__name__ == 'cached_property' and type(value).__module__ == 'functools':
            return type(value), (value.func,), {'attrname': value.attrname}
        if type(value).__name__ == 'TypeVar' and is_ours(value):
            return self.type_variable(value)
        return NotImplemented

    # dataclasses compares its markers (MISSING and others) by identity, so they are stored by name.
    def sentinel(self, value):
        module = sys.modules['dataclasses']
        for name, known in vars(module).items():
            if known is value:
                return getattr, (module, name)
        return NotImplemented

    def type_variable(self, value):
        options = {'bound': value.__bound__, 'covariant': value.__covariant__, 'contravariant': value.__contravariant__}
        return make_type_variable, (value.__name__, value.__constraints__, options)

    def function(self, value):
        extra = (value.__qualname__, value.__doc__, value.__annotations__, value.__dict__)
        return make_function, (
            marshal.dumps(value.__code__), value.__globals__.get('__name__', '__main__'),
            value.__name__, value.__defaults__, value.__kwdefaults__,
            None if value.__closure__ is None else list(value.__closure__), extra,
        )

    def user_class(self, value):
        methods = {k: v for k, v in value.__dict__.items() if isinstance(v, METHODS) and is_written(k, v)}
        if 'enum' in sys.modules and isinstance(value, sys.modules['enum'].EnumMeta):
            values = {name: member.value for name, member in value.__members__.items()}
            return make_enum, (type(value), value.__name__, value.__bases__, values), methods, None, None, fill_class
        if value.__bases__ == (tuple,) and hasattr(value, '_fields'):
            defaults = tuple(value._field_defaults.values())
            return make_namedtuple, (value.__name__, value._fields, defaults), methods, None, None, fill_class
        slots = value.__dict__.get('__slots__')
        own = {slots} if isinstance(slots, str) else set(slots or ())
        members = {k: v for k, v in value.__dict__.items() if k not in SKIPPED and k not in own}
        bases = tuple(value.__dict__.get('__orig_bases__', value.__bases__))
        return make_class, (type(value), value.__name__, bases, slots), members, None, None, fill_class


# Also reads back what it wrote, as a new process would, in which __main__ is still empty: one value that cannot be
# read (an exception with arguments of its own, say) would take all others with it.
def dump(values):
    buffer = io.BytesIO()
    Pickler(buffer, protocol=4).dump(values)
    payload = buffer.getvalue()
    if holds_secret(payload):
        raise Secret
    sys.modules['__main__'] = types.ModuleType('__main__')
    try:
        load(payload)
    finally:
        sys.modules['__main__'] = main
    return payload


class Secret(Exception):
    pass


def holds_secret(data):
    return any(secret in data for secret in secrets)


def save():
    sys.setrecursionlimit(min(sys.getrecursionlimit(), 5000))  # or what is nested too deeply ends the process
    values = {n: value for n, value in namespace.items() if n not in initial and not is_closed_file(value)}
    lost = {}
    try:
        payload = dump(values)
    except Exception:
        for name, value in list(values.items()):
            try:
                dump({name: value})
            except Exception as error:
                lost[name] = 'it holds a secret' if isinstance(error, Secret) else f'{type(error).__name__}: {error}'
                del values[name]
        payload = dump(values)
    used = {n: text for n, text in sources.items() if n.encode() in payload and not holds_secret(text.encode())}
    if restored:
        with open(work + '.state', 'wb', opener=private) as file:
            pickle.dump((sys.version, used, payload), file)
    variables = {key.decode(errors='replace'): value.decode('latin-1') for key, value in os.environb.items()}
    report = {
        'variables': {name: value for name, value in variables.items() if name not in hidden},
        'workDirectory': directory().decode(errors='replace'),
        'jobs': children(),
        'notKept': [{'name': name, 'reason': reason} for name, reason in lost.items()],
    }
    with open(work, 'w') as file:
        json.dump(report, file)


# A closed file is what "with open(…) as file" leaves.
def is_closed_file(value):
    return isinstance(value, io.IOBase) and value.closed


def private(path, flags):
    return os.open(path, flags, 0o600)


def directory():
    try:
        return os.getcwdb()
    except FileNotFoundError:
        return started_in


# As a shell lists its jobs. Linux only.
def children():
    try:
        with open(f'/proc/self/task/{os.getpid()}/children') as file:
            return ''.join(f'[1] {pid} Running\n' for pid in file.read().split())
    except OSError:
        return ''


# Sets the variables that the process could not be started with: too large, or not UTF-8.
def set_late():
    try:
        with open(work + '.variables', 'rb') as file:
            entries = file.read().split(b'\0')[:-1]
    except FileNotFoundError:
        return
    for entry in entries:
        name, value = entry.split(b'=', 1)
        os.environb[name] = value


# The process ends at once, without waiting for threads, so this does what Python does at its end.
def finish():
    atexit._run_exitfuncs()
    for value in gc.get_objects():
        if isinstance(value, io.IOBase) and not value.closed and value.writable():
            value.flush()


def open_streams():
    sys.stdout = sys.__stdout__ if sys.__stdout__ and not sys.__stdout__.closed else open(os.devnull, 'w')
    sys.stderr = sys.__stderr__ if sys.__stderr__ and not sys.__stderr__.closed else open(os.devnull, 'w')


started_in = os.getcwdb()
set_late()
restored = restore()
with open(work + '.command', encoding='utf-8') as file:
    code = run(file.read())
try:
    save()
except Exception as error:
    open_streams()
    print(f'[session] The state was not saved: {error!r}', file=sys.stderr)
try:
    finish()
except BaseException:
    open_streams()
    traceback.print_exc()
os._exit(code)
