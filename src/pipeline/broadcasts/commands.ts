/** Every command of broadcasts. */
import { beginCommands } from './begin.ts'
import { draftCommands } from './draft.ts'
import { expandCommands } from './expand.ts'
import { giveUpCommands } from './give-up.ts'
import { sendCommands } from './send.ts'

export const broadcastCommands = {
  ...draftCommands,
  ...sendCommands,
  ...beginCommands,
  ...expandCommands,
  ...giveUpCommands,
}
