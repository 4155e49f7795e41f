/** Entry of the writer thread. */

import { collectWhenQuiet } from '../lib/idle-gc.ts'
import { runWriterThread } from '../store/writer/thread.ts'
import { commands } from './commands.ts'

collectWhenQuiet()
await runWriterThread(commands)
