/** Entry of the writer thread. */
import { commands } from './commands.ts'
import { collectWhenQuiet } from './lib/quiet-collection.ts'
import { runWriterThread } from './store/writer/thread.ts'

collectWhenQuiet()
await runWriterThread(commands)
