/** A reader process that does what it is told. */
import { serveProcess } from '../../../src/lib/serve-process.ts'

serveProcess((_, takePieces) => ({
  echo: async (input: unknown) => input,
  joined: async (input: unknown) => ({ input, text: Buffer.concat(takePieces()).toString() }),
  fail: (message: string) => Promise.reject(new Error(message)),
  exit: async () => process.exit(3),
  kill: async () => process.kill(process.pid, 'SIGKILL'),
  async loop() {
    for (;;);
  },
  async fillHeapInBuiltin() {
    return '=41'.repeat(8_000_000).replace(/=([0-9A-F]{2})/g, (_, hex: string) => hex)
  },
}))
