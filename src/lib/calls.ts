/** Functions of one thread called from another over a message port. Errors travel as their message and stack. */
import type { MessagePort } from 'node:worker_threads'

// biome-ignore lint/suspicious/noExplicitAny: a table of functions with different inputs and outputs has no other type
export type Callable = Record<string, (input: any) => Promise<unknown>>

interface Call {
  seq: number
  name: string
  input: unknown
}

type Answer =
  | { seq: number; ok: true; output: unknown }
  | { seq: number; ok: false; message: string; stack: string | undefined }

/** The other thread has ended before it answered; whether it did what it was asked to do is not known. */
export class ThreadEnded extends Error {}

export interface Caller {
  /** @throws ThreadEnded; Error what the function threw */
  call(name: string, input: unknown): Promise<unknown>
  /** Calls not answered yet. */
  pendingCount(): number
}

/** Answers every call that comes. */
export function serveCalls(port: MessagePort, functions: Callable): void {
  port.on('message', async ({ seq, name, input }: Call) => {
    port.postMessage(await answerTo(functions, { seq, name, input }))
  })
}

async function answerTo(functions: Callable, { seq, name, input }: Call): Promise<Answer> {
  try {
    if (!Object.hasOwn(functions, name)) throw new Error(`there is no function "${name}"`)
    return { seq, ok: true, output: await functions[name]!(input) }
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { seq, ok: false, message, stack }
  }
}

export function createCaller(port: MessagePort): Caller {
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let seq = 0
  let isClosed = false
  port.on('message', (answer: Answer) => {
    const waiting = pending.get(answer.seq)
    pending.delete(answer.seq)
    if (answer.ok) return waiting?.resolve(answer.output)
    const error = new Error(answer.message)
    if (answer.stack !== undefined) error.stack = answer.stack
    return waiting?.reject(error)
  })
  port.on('close', () => {
    isClosed = true
    for (const { reject } of pending.values()) reject(new ThreadEnded('the thread that was asked has ended'))
    pending.clear()
  })
  return {
    async call(name, input) {
      if (isClosed) throw new ThreadEnded('the thread that was asked has ended')
      const waiting = Promise.withResolvers<unknown>()
      pending.set(++seq, waiting)
      port.postMessage({ seq, name, input } satisfies Call)
      return waiting.promise
    },
    pendingCount: () => pending.size,
  }
}
