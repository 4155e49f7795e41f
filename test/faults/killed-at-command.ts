/**
 * Kills a real program as soon as the writer has committed a command for one account, at a command at which
 * none was killed before. Loaded before the program. In the URL of this module are the `account` as
 * hexadecimal digits, the file of the `names` of such commands, a line each, and perhaps `only` one command.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread, MessagePort } from 'node:worker_threads'
import type { GroupReport, WriteRequest } from '../../src/store/writer/protocol.ts'

const { searchParams } = new URL(import.meta.url)
const account = Buffer.from(searchParams.get('account') ?? '', 'hex')
const only = searchParams.get('only')
const file = searchParams.get('names')!

if (isMainThread) {
  const known = new Set(readFileSync(file, 'utf8').split('\n'))
  const { postMessage } = MessagePort.prototype
  MessagePort.prototype.postMessage = function (this: MessagePort, ...args: unknown[]) {
    const fatal = Array.isArray(args[0]) ? fatalOf(args[0] as WriteRequest[], known) : undefined
    if (fatal)
      this.on('message', ({ replies }: GroupReport) => {
        if (replies.some(({ seq }) => seq === fatal.seq)) killAfter(fatal)
      })
    Reflect.apply(postMessage, this, args)
  } as typeof postMessage
}

function fatalOf(requests: readonly WriteRequest[], known: ReadonlySet<string>): WriteRequest | undefined {
  return requests.find(
    ({ name, input }) => (only === null || only === name) && !known.has(name) && isAbout(input),
  )
}

function killAfter({ name }: WriteRequest) {
  appendFileSync(file, `${name}\n`)
  process.kill(process.pid, 'SIGKILL')
}

/** Tells whether the input has the id of the account at any depth. */
function isAbout(input: unknown): boolean {
  if (input instanceof Uint8Array) return Buffer.compare(input, account) === 0
  return typeof input === 'object' && input !== null && Object.values(input).some(isAbout)
}
