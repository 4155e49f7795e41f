/** Every command there is; the writer thread runs them, everybody else names them. */
import { acceptCommands } from './accept/commit.ts'
import { scheduledCommands } from './accept/scheduled.ts'
import { domainCommands } from './domains/commands.ts'
import { recipientCommands } from './events/commands.ts'
import { queueCommands } from './queue/commands.ts'
import { releaseCommands } from './queue/release.ts'
import { apiKeyCommands } from './store/api-keys.ts'
import { settingCommands } from './store/settings.ts'
import { userCommands } from './store/users.ts'
import { templateCommands } from './templates/commands.ts'

export const commands = {
  ...settingCommands,
  ...userCommands,
  ...apiKeyCommands,
  ...domainCommands,
  ...templateCommands,
  ...acceptCommands,
  ...scheduledCommands,
  ...releaseCommands,
  ...queueCommands,
  ...recipientCommands,
}

export type Commands = typeof commands
