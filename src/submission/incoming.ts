/** Messages on their way in: all together they take a bounded amount of memory. */

export interface Incoming {
  open(): IncomingMessage
}

export interface IncomingMessage {
  add(chunk: Uint8Array): void
  /** Undefined when there was no room for all of it. */
  pieces(): Uint8Array<ArrayBuffer>[] | undefined
  /** Gives the room back. */
  close(): void
}

export function createIncoming(mostBytes: number): Incoming {
  let taken = 0
  return {
    open() {
      const pieces: Uint8Array<ArrayBuffer>[] = []
      let own = 0
      let fits = true
      const clear = () => {
        pieces.length = 0
        taken -= own
        own = 0
      }
      return {
        add(chunk) {
          fits &&= taken + chunk.length <= mostBytes
          if (!fits) return clear()
          taken += chunk.length
          own += chunk.length
          pieces.push(new Uint8Array(chunk))
        },
        pieces: () => (fits ? pieces : undefined),
        close: clear,
      }
    },
  }
}
