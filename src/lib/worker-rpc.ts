/**
 * Calls functions of another thread or process over a message channel. Errors are passed as name, message and
 * stack.
 */
import { Slab } from './slab.ts'

/** Common interface of a message port of a thread and the channel of a child process. */
export interface CallChannel {
  // biome-ignore lint/suspicious/noExplicitAny: messages are of the shapes below, which the runtime's types do not know
  on(event: 'message' | 'close', listener: (message: any) => void): unknown
  /**
   * @param memory buffers that move to the other side if the channel can move memory; otherwise they are
   * copied
   */
  postMessage(message: unknown, memory?: readonly ArrayBuffer[]): void
}

// biome-ignore lint/suspicious/noExplicitAny: a table of functions with different inputs and outputs has no other type
export type Callable = Record<string, (input: any) => Promise<unknown>>

/** Result with buffers that move to the caller instead of being copied. */
export class Transferred<T = unknown> {
  readonly output: T
  readonly memory: readonly ArrayBuffer[]

  constructor(output: T, memory: Iterable<ArrayBuffer>) {
    this.output = output
    this.memory = [...new Set(memory)]
  }
}

interface Call {
  seq: number
  name: string
  input: unknown
}

type Answer =
  | { seq: number; ok: true; output: unknown }
  | { seq: number; ok: false; name: string; message: string; stack: string | undefined }

/** The other thread or process ended before it answered. Whether it did the work is unknown. */
export class WorkerEnded extends Error {}

export interface Caller {
  /**
   * @param memory buffers that move to the other thread instead of being copied
   * @throws WorkerEnded; Error that the function threw
   */
  call(name: string, input: unknown, memory?: readonly ArrayBuffer[]): Promise<unknown>
  /** Number of calls that have not been answered. */
  pendingCount(): number
}

/** Answers the calls that arrive on the port. */
export function serveCalls(port: CallChannel, functions: Callable): void {
  port.on('message', async ({ seq, name, input }: Call) => {
    const answer = await answerTo(functions, { seq, name, input })
    try {
      post(port, answer)
    } catch (error) {
      post(port, failedAnswer(seq, error)) // the output cannot be copied
    }
  })
}

function post(port: CallChannel, answer: Answer) {
  const moved = answer.ok && answer.output instanceof Transferred ? answer.output : undefined
  if (moved) port.postMessage({ ...answer, output: moved.output }, moved.memory)
  else port.postMessage(answer)
}

async function answerTo(functions: Callable, { seq, name, input }: Call): Promise<Answer> {
  try {
    if (!Object.hasOwn(functions, name)) throw new Error(`there is no function "${name}"`)
    return { seq, ok: true, output: await functions[name]!(input) }
  } catch (error) {
    return failedAnswer(seq, error)
  }
}

function failedAnswer(seq: number, error: unknown): Answer {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  return { seq, ok: false, name, message, stack }
}

export function createCaller(port: CallChannel): Caller {
  const pending = new Slab<PromiseWithResolvers<unknown>>()
  let isClosed = false
  port.on('message', (answer: Answer) => {
    const waiting = pending.take(answer.seq)
    if (answer.ok) return waiting?.resolve(answer.output)
    const error = Object.assign(new Error(answer.message), { name: answer.name })
    if (answer.stack !== undefined) error.stack = answer.stack
    return waiting?.reject(error)
  })
  port.on('close', () => {
    isClosed = true
    for (const { reject } of pending.takeAll()) reject(new WorkerEnded('the thread that was asked has ended'))
  })
  return {
    async call(name, input, memory = []) {
      if (isClosed) throw new WorkerEnded('the thread that was asked has ended')
      const waiting = Promise.withResolvers<unknown>()
      const seq = pending.put(waiting)
      port.postMessage({ seq, name, input } satisfies Call, memory)
      return waiting.promise
    },
    pendingCount: () => pending.size,
  }
}
