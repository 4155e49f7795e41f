/** Entry of the writer thread. */
import { commands } from './commands.ts'
import { runWriterThread } from './store/writer/thread.ts'

await runWriterThread(commands)
