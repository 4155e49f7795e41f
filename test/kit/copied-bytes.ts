/**
 * Counts the bytes that are copied, decoded or searched, so that a test sees what is looked at again and
 * again.
 */
import type { TestContext } from './suite.ts'

/** @returns the number of bytes since the call */
export function countHandledBytes(t: TestContext): () => number {
  let bytes = 0
  const restore: (() => void)[] = []
  const wrap = (holder: object, name: string, cost: (self: Buffer, args: unknown[]) => number) => {
    const target = holder as Record<string, (...args: unknown[]) => unknown>
    const own = Object.hasOwn(target, name)
    const original = target[name]!
    target[name] = function (this: Buffer, ...args: unknown[]) {
      bytes += cost(this, args)
      return original.apply(this, args)
    }
    restore.push(() => {
      if (own) target[name] = original
      else delete target[name]
    })
  }
  const sizeOf = (piece: unknown) => (piece as Uint8Array).length
  wrap(Buffer, 'concat', (_, [pieces]) =>
    (pieces as unknown[]).reduce<number>((sum, piece) => sum + sizeOf(piece), 0),
  )
  wrap(Buffer.prototype, 'set', (_, [piece]) => sizeOf(piece))
  wrap(Buffer.prototype, 'toString', (self, [, from = 0, to = self.length]) => Number(to) - Number(from))
  wrap(Buffer.prototype, 'indexOf', (self, [, from = 0]) => Math.max(0, self.length - Number(from)))
  const stop = () => {
    for (const undo of restore.splice(0)) undo()
  }
  t.after(stop)
  return () => {
    stop()
    return bytes
  }
}
