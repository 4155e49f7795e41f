/** All commands of broadcasts. */
import { beginCommands } from './begin.ts'
import { cancelCommands } from './cancel.ts'
import { draftCommands } from './draft.ts'
import { expandCommands } from './expand.ts'
import { sendCommands } from './send.ts'

export const broadcastCommands = {
  ...draftCommands,
  ...sendCommands,
  ...beginCommands,
  ...expandCommands,
  ...cancelCommands,
}
