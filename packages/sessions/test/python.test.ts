import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { start } from './helpers.js'

const hasPython = areInstalled('python3')

describe.skipIf(!hasPython)('a python session remembers', () => {
  test('variables, that two names are one object, imports, the working directory and os.environ', async () => {
    const { exec, print, workDirectory } = await start('python3')
    mkdirSync(join(workDirectory, 'sub'))
    const { notKept, workDir } = await exec(`
a = [1]; b = a; text = "ä\\n"; nested = {"x": (1, {2})}
import json, os, os.path as p
from math import sqrt as root
os.chdir("sub"); os.environ["NEW"] = "a\\nb"
with open('out', 'w') as file: file.write('text')`)
    expect({ notKept, workDir }).toEqual({ notKept: undefined, workDir: join(workDirectory, 'sub') })
    await exec('b.append(2)')
    expect(
      await print(`print(a, a is b, repr(text), nested)
print(json.dumps([1]), p.join("a", "b"), root(9), os.getcwd() == os.path.realpath("."), repr(os.environ["NEW"]))`),
    ).toBe("[1, 2] True 'ä\\n' {'x': (1, {2})}\n[1] a/b 3.0 True 'a\\nb'\n")
  })

  test('functions (recursive, with defaults, closures, decorators, a cache), and hooks for subclasses without running them again', async () => {
    const { exec, print } = await start('python3')
    const { notKept } = await exec(`
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
@functools.lru_cache(maxsize=7)
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
known = []
class Plugin:
    def __init_subclass__(cls): known.append(cls.__name__); print('registered', cls.__name__)
class First(Plugin): pass
class Second(First): pass
`)
    expect(notKept).toBeUndefined()
    await exec('step(); factor = 10')
    expect(await print('class Third(First): pass')).toBe('registered Third\n')
    expect(
      await print(`print(factorial(), factorial.__doc__, step(), greet("hi"), square(3), greet.__name__)
print(fibonacci(30), fibonacci.cache_info().maxsize, known, issubclass(Second, First))`),
    ).toBe("120 n! 20 ['hi!', 'hi!'] 9 greet\n832040 7 ['First', 'Second', 'Third'] True\n")
  })

  test('classes: inheritance, slots, data classes, enums, abstract and generic ones, named tuples, and their instances', async () => {
    const { exec, print } = await start('python3')
    await exec(`
import abc, collections, dataclasses, enum, functools, typing
T = typing.TypeVar('T')
class Box(typing.Generic[T]):
    def __init__(self, value: T): self.value = value
    @functools.cached_property
    def twice(self): return [self.value] * 2
box = Box[int](3); box.twice
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
      await print(`print(dog.loud, isinstance(dog, Animal), Dog.make().name, Animal.count, Dog.add(1, 2), point.x, pair, Pair(1) == pair)
print(red is Color.RED, red.shout(), square.area(), size, size.h, dataclasses.asdict(pair))
print(box.twice is box.twice, Box[int](4).twice)`),
    ).toBe(`REX True made 2 3 4 Pair(a=1, b=2) True
True R 9 Size(w=1, h=2) 2 {'a': 1, 'b': 2}
True [4, 4]
`)
    expect((await exec('Shape()')).stderr).toContain("Can't instantiate abstract class Shape")
  })
})

describe.skipIf(!hasPython)('whatever the code does, the session goes on', () => {
  test('the value of a last expression, the line of a syntax error, a traceback and an exit code are results', async () => {
    const { exec, print } = await start('python3')
    expect(await print('x = 20\nx + 1')).toBe('21\n')
    expect(await print('def fail(): return 1 / 0\nNone')).toBe('')
    const failed = await exec('kept = 1\nfail()')
    expect(failed.exitCode).toBe(1)
    expect(failed.stderr).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "<session:3>", line 2, in <module>\n {4}fail\(\)\n {2}File "<session:2>", line 1, in fail\n {4}def fail\(\): return 1 \/ 0/,
    )
    const wrong = await exec('if True print(1)')
    expect(wrong.exitCode).toBe(1)
    expect(wrong.stderr).toMatch(
      /^ {2}File "<session:4>", line 1\n {4}if True print\(1\)\n[\s\S]*SyntaxError/,
    )
    expect(await exec('import sys; kept += 1; sys.exit(3)')).toMatchObject({ exitCode: 3 })
    expect(await exec('sys.exit("reason")')).toMatchObject({ exitCode: 1, stderr: 'reason\n' })
    expect(await print('kept')).toBe('2\n')
  })

  test('what cannot be kept, or not be read back, is named, and the rest is kept', async () => {
    const { exec, print } = await start('python3')
    const result = await exec(`import threading, typing
lock = threading.Lock(); steps = (i for i in [1])
class Failure(Exception):
    def __init__(self, code, reason): super().__init__(reason)
failure = Failure(1, 'why'); Id = typing.NewType('Id', int); number = 7; made = []
class Meta(type):
    def __init__(cls, *arguments): made.append(cls)
class Noted(metaclass=Meta): pass`)
    const reasons = Object.fromEntries((result.notKept ?? []).map(({ name, reason }) => [name, reason]))
    expect(reasons).toEqual({
      lock: expect.stringContaining("cannot pickle '_thread.lock' object"),
      steps: expect.stringContaining("cannot pickle 'generator' object"),
      failure: expect.stringContaining("missing 1 required positional argument: 'reason'"),
      Id: expect.stringContaining("Can't get attribute 'Id'"),
      made: expect.stringContaining("name 'made' is not defined"),
      Noted: expect.stringContaining("name 'made' is not defined"),
    })
    expect(await print('print(number, Failure.__name__, "failure" in globals(), "lock" in globals())')).toBe(
      '7 Failure False False\n',
    )
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
