/**
 * Lets an upload be read twice: its bytes are written to a draft while they are read for the first time. A
 * first reader that stops early leaves the rest on the connection, where the second one reads it.
 */
import type { Drafts } from './drafts.ts'

type SomeDrafts = Pick<Drafts, 'create' | 'pieces' | 'discard'>

const PIECE_BYTES = 64 * 1024

export class ReplayedStream {
  readonly #drafts: SomeDrafts
  readonly #source: AsyncIterator<Uint8Array>
  readonly #draft: ReturnType<Drafts['create']>
  #replay: ReturnType<Drafts['pieces']> | undefined

  constructor(drafts: SomeDrafts, source: AsyncIterable<Uint8Array>) {
    this.#drafts = drafts
    this.#source = source[Symbol.asyncIterator]()
    this.#draft = drafts.create()
    this.#draft.catch(() => {}) // the first reader reports it
  }

  /** @throws StorageUnavailable, and the errors of the upload */
  async *first(): AsyncGenerator<Uint8Array> {
    const draft = await this.#draft
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done) return
      await draft.append([value])
      yield value
    }
  }

  /** The bytes that the first reader has read, and then the rest. */
  async *again(): AsyncGenerator<Uint8Array> {
    this.#replay = this.#drafts.pieces((await this.#draft).name, PIECE_BYTES)
    yield* this.#replay
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done) return
      yield value
    }
  }

  async discard(): Promise<void> {
    this.#replay?.destroy()
    const draft = await this.#draft.catch(() => undefined)
    if (!draft) return
    await draft.close()
    await this.#drafts.discard(draft.name)
  }
}
