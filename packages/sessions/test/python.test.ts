import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { start } from './helpers.js'

const hasPython = areInstalled('python3')

describe.skipIf(!hasPython)('a python session remembers', () => {
  test('variables, and that two names are one object', async () => {
    const { exec, print } = await start('python3')
    expect((await exec("with open('out', 'w') as file: file.write('text')")).notKept).toBeUndefined()
    await exec('a = [1]; b = a; text = "ä\\n"; nested = {"x": (1, {2})}')
    await exec('b.append(2)')
    expect(await print('print(a, a is b, repr(text), nested)')).toBe("[1, 2] True 'ä\\n' {'x': (1, {2})}\n")
  })

  test('imports', async () => {
    const { exec, print } = await start('python3')
    await exec('import json, os.path as p\nfrom math import sqrt as root')
    expect(await print('print(json.dumps([1]), p.join("a", "b"), root(9))')).toBe('[1] a/b 3.0\n')
  })

  test('functions: recursive, with defaults, closures and decorators', async () => {
    const { exec, print } = await start('python3')
    await exec(`
import functools
factor = 2
def factorial(n: int = 5) -> int:
    "n!"
    return 1 if n < 2 else n * factorial(n - 1)
def counter():
    count = 0
    def step(by=1):
        nonlocal count
        count += by
        return count * factor
    return step
step = counter()
def twice(f):
    @functools.wraps(f)
    def inner(*args, **kwargs): return [f(*args, **kwargs)] * 2
    return inner
@twice
def greet(name, *, end='!'): return name + end
square = lambda x: x * x
`)
    await exec('step(); factor = 10')
    expect(
      await print('print(factorial(), factorial.__doc__, step(), greet("hi"), square(3), greet.__name__)'),
    ).toBe("120 n! 20 ['hi!', 'hi!'] 9 greet\n")
  })

  test('classes: inheritance, slots, data classes, enums, abstract ones, named tuples, and their instances', async () => {
    const { exec, print } = await start('python3')
    await exec(`
import abc, collections, dataclasses, enum
class Animal:
    count = 0
    def __init__(self, name): self.name = name; Animal.count += 1
    @property
    def loud(self): return self.name.upper()
    @classmethod
    def make(cls): return cls('made')
    @staticmethod
    def add(a, b): return a + b
class Dog(Animal):
    def __init__(self, name): super().__init__(name); self.tricks = []
class Point:
    __slots__ = ('x',)
    def __init__(self, x): self.x = x
@dataclasses.dataclass
class Pair:
    a: int
    b: int = 2
class Color(enum.Enum):
    RED = 'r'
    def shout(self): return self.value.upper()
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
class Square(Shape):
    def area(self): return 9
Size = collections.namedtuple('Size', 'w h', defaults=(2,))
dog = Dog('rex'); point = Point(4); pair = Pair(1); red = Color.RED; square = Square(); size = Size(1)
`)
    expect(
      await print(
        'print(dog.loud, isinstance(dog, Animal), Dog.make().name, Animal.count, Dog.add(1, 2), point.x, pair, Pair(1) == pair)',
      ),
    ).toBe('REX True made 2 3 4 Pair(a=1, b=2) True\n')
    expect(
      await print(
        'print(red is Color.RED, red.shout(), square.area(), size, size.h, dataclasses.asdict(pair))',
      ),
    ).toBe("True R 9 Size(w=1, h=2) 2 {'a': 1, 'b': 2}\n")
    expect((await exec('Shape()')).stderr).toContain("Can't instantiate abstract class Shape")
  })

  test('functions with a cache, properties with one, and generic classes', async () => {
    const { exec, print } = await start('python3')
    const { notKept: lost } = await exec(`
import functools, typing
@functools.lru_cache(maxsize=7)
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
T = typing.TypeVar('T')
class Box(typing.Generic[T]):
    def __init__(self, value: T): self.value = value
    @functools.cached_property
    def twice(self): return [self.value] * 2
box = Box[int](3); box.twice
`)
    expect(lost).toBeUndefined()
    expect(
      await print(
        'print(fibonacci(30), fibonacci.cache_info().maxsize, box.twice is box.twice, Box[int](4).twice)',
      ),
    ).toBe('832040 7 True [4, 4]\n')
  })

  test('hooks for subclasses, without running them again', async () => {
    const { exec, print } = await start('python3')
    await exec(`
known = []
class Plugin:
    def __init_subclass__(cls): known.append(cls.__name__); print('registered', cls.__name__)
class First(Plugin): pass
class Second(First): pass
`)
    expect(await print('known')).toBe("['First', 'Second']\n")
    expect(await print('class Third(First): pass')).toBe('registered Third\n')
    expect(await print('print(known, issubclass(Second, First))')).toBe("['First', 'Second', 'Third'] True\n")
  })

  test('the working directory and os.environ', async () => {
    const { exec, print, workDirectory } = await start('python3')
    mkdirSync(join(workDirectory, 'sub'))
    expect((await exec('import os; os.chdir("sub"); os.environ["NEW"] = "a\\nb"')).workDir).toBe(
      join(workDirectory, 'sub'),
    )
    expect(await print('print(os.getcwd() == os.path.realpath("."), repr(os.environ["NEW"]))')).toBe(
      "True 'a\\nb'\n",
    )
  })
})

describe.skipIf(!hasPython)('whatever the code does, the session goes on', () => {
  test('the value of a last expression is printed, as at the prompt', async () => {
    const { exec, print } = await start('python3')
    expect(await print('x = 20\nx + 1')).toBe('21\n')
    expect((await exec('None')).stdout).toBe('')
  })

  test('a traceback is the result, and what was assigned before it counts', async () => {
    const { exec, print } = await start('python3')
    await exec('def fail(): return 1 / 0')
    const result = await exec('kept = 1\nfail()')
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "<session:2>", line 2, in <module>\n {4}fail\(\)\n {2}File "<session:1>", line 1, in fail\n {4}def fail\(\): return 1 \/ 0/,
    )
    expect(await print('kept')).toBe('1\n')
  })

  test('a syntax error shows the line', async () => {
    const { exec } = await start('python3')
    const { exitCode, stderr } = await exec('if True print(1)')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^ {2}File "<session:1>", line 1\n {4}if True print\(1\)\n[\s\S]*SyntaxError/)
  })

  test('sys.exit is an exit code', async () => {
    const { exec, print } = await start('python3')
    expect(await exec('import sys; kept = 1; sys.exit(3)')).toMatchObject({ exitCode: 3 })
    expect(await exec('sys.exit("reason")')).toMatchObject({ exitCode: 1, stderr: 'reason\n' })
    expect(await print('kept')).toBe('1\n')
  })

  test('what cannot be kept is named, and the rest is kept', async () => {
    const { exec, print } = await start('python3')
    const result = await exec(
      'import threading\nlock = threading.Lock(); steps = (i for i in [1]); number = 7',
    )
    expect(result.notKept).toEqual([
      { name: 'lock', reason: expect.stringContaining("cannot pickle '_thread.lock' object") },
      { name: 'steps', reason: expect.stringContaining("cannot pickle 'generator' object") },
    ])
    expect(await print('print(number, "lock" in globals())')).toBe('7 False\n')
  })

  test('what could be written but not read back is named, and does not take the rest with it', async () => {
    const { exec, print } = await start('python3')
    const result = await exec(`import typing
class Failure(Exception):
    def __init__(self, code, reason): super().__init__(reason)
failure = Failure(1, 'why'); Id = typing.NewType('Id', int); number = 7; made = []
class Meta(type):
    def __init__(cls, *arguments): made.append(cls)
class Noted(metaclass=Meta): pass`)
    expect(result.notKept).toEqual([
      {
        name: 'failure',
        reason: expect.stringContaining("missing 1 required positional argument: 'reason'"),
      },
      { name: 'Id', reason: expect.stringContaining("Can't get attribute 'Id'") },
      { name: 'made', reason: expect.stringContaining("name 'made' is not defined") },
      { name: 'Noted', reason: expect.stringContaining("name 'made' is not defined") },
    ])
    expect(await print('print(number, Failure.__name__, "failure" in globals())')).toBe('7 Failure False\n')
  })

  test('what holds a secret is named, and does not take the rest with it', async () => {
    const key = 'sk-secret-0123456789'
    const { exec, print, directory } = await start('python3', { env: { OPENAI_API_KEY: key } })
    const result = await exec(`import os
key = os.environ['OPENAI_API_KEY']; headers = {'Authorization': f'Bearer {key}'}; number = 7
def literal(): return '${key}'
def harmless(): return 8`)
    expect(result.notKept).toEqual(
      ['key', 'headers', 'literal'].map((name) => ({ name, reason: 'it holds a secret' })),
    )
    expect(await print('print(number, harmless(), "key" in globals())')).toBe('7 8 False\n')
    expect(readFileSync(join(directory, 'current', 'state.pickle'), 'latin1')).not.toContain(key)
  })

  test('while a module it needs is broken, the variables stay stored', async () => {
    const { exec, print, workDirectory } = await start('python3')
    const module = join(workDirectory, 'helper.py')
    writeFileSync(module, 'def help(): return "helped"\n')
    await exec('import helper; number = 7')
    writeFileSync(module, 'def help(: return "not even Python"\n')
    const broken = await exec('number = 8')
    expect(broken.stderr).toContain('[session] The variables could not be restored: SyntaxError')
    writeFileSync(module, 'def help(): return "helped again"\n')
    expect(await print('print(number, helper.help())')).toBe('7 helped again\n')
  })

  test('a process that dies leaves the state as it was', async () => {
    const { exec, print } = await start('python3')
    await exec('number = 1')
    expect(await exec('import os; number = 2; os.kill(os.getpid(), 9)')).toMatchObject({
      exitCode: 137,
      signal: 'SIGKILL',
      notices: ['The session is as it was before this command: it was killed by SIGKILL.'],
    })
    expect(await print('number')).toBe('1\n')
  })
})

describe.skipIf(!hasPython)('whatever a Python command does, the session goes on', () => {
  test('closing its streams, or leaving a directory that is gone', async () => {
    const { exec, print } = await start('python3')
    await exec('import sys; one = 1; sys.stdout.close()')
    expect((await exec('two = 2; sys.stderr.close(); 1 / 0')).exitCode).toBe(1)
    await exec('import os; os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone"); three = 3')
    expect(await print('one, two, three')).toBe('(1, 2, 3)\n')
  })

  test('what is nested too deeply is named', async () => {
    const { exec, print } = await start('python3')
    const nest =
      'import sys; sys.setrecursionlimit(100_000); deep = []\nfor _ in range(50_000): deep = [deep]'
    expect((await exec(`${nest}\nkept = 1`)).notKept).toEqual([
      { name: 'deep', reason: expect.stringContaining('RecursionError') },
    ])
    expect(await print('kept')).toBe('1\n')
  })

  test('files are written and exit functions run, though the process waits for no thread', async () => {
    const { exec, print } = await start('python3')
    const result = await exec(`import atexit, threading
file = open('out', 'w'); _ = file.write('all of it'); _ = atexit.register(print, 'bye')
threading.Thread(target=threading.Event().wait).start()`)
    expect(result).toMatchObject({
      stdout: 'bye\n',
      notKept: [{ name: 'file', reason: expect.any(String) }],
    })
    expect(await print("open('out').read()")).toBe("'all of it'\n")
  })

  test('an environment that no program can be given is kept, and it is said', async () => {
    const { exec, print } = await start('python3')
    await exec(`import os; os.environ['BIG'] = 'x' * 200_000; os.environb[b'BYTES'] = b'\\xff'`)
    expect(await exec("len(os.environ['BIG']), os.environb[b'BYTES']")).toMatchObject({
      stdout: "(200000, b'\\xff')\n",
      notices: [expect.stringContaining('BIG (200000 bytes)')],
    })
    await exec("del os.environ['BIG']")
    expect(await print("'BIG' in os.environ")).toBe('False\n')
  })

  test.runIf(process.platform === 'linux')('a process that it left running is reported', async () => {
    const { exec } = await start('python3')
    const { backgroundJobs: jobs } = await exec("import subprocess; _ = subprocess.Popen(['sleep', '600'])")
    expect(jobs).toEqual([{ pid: expect.any(Number), command: 'sleep 600' }])
  })
})
