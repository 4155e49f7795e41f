/** Entry of the writer thread. */

import { collectGarbageWhenIdle } from '../lib/idle-gc.ts'
import { runWriterThread } from '../store/opening/writer-thread.ts'
import { commands } from './commands.ts'

collectGarbageWhenIdle()
await runWriterThread(commands)
