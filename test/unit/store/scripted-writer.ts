/**
 * Entry of a writer thread for tests: commands that write in a visible order, announce, and kill the thread.
 */
import { command } from '../../../src/store/model/command.ts'
import { runWriterThread } from '../../../src/store/opening/writer-thread.ts'
import { settingCommands } from '../../../src/store/reading/settings.ts'

let order = 0

export const scriptedCommands = {
  ...settingCommands,
  /** Stores the key with its place among all commands of this thread's life, and announces it. */
  append: command<string, number>(async (tx, key) => {
    await tx.rows.insert('settings', [{ key, value: String(++order) }])
    tx.announce('appended', key)
    return order
  }),
  fail: command<string, void>(async (_, message) => {
    throw new Error(message)
  }),
  die: command<null, void>(async () => {
    setImmediate(() => {
      throw new Error('the thread was told to die')
    })
  }),
}

export type ScriptedCommands = typeof scriptedCommands

await runWriterThread(scriptedCommands)
