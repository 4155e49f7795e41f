/** Conflict keys of a group of commands: groups with a common key do not run concurrently. */
import type { Commands } from '../model/command.ts'
import type { WriteRequest } from './protocol.ts'

export interface ConflictKeys {
  /** Whether the group must run while no other group does. */
  alone: boolean
  /** Conflict keys, each once. */
  names: string[]
}

export function conflictKeysOf(commands: Commands, requests: readonly WriteRequest[]): ConflictKeys {
  const names = new Set<string>()
  let alone = false
  for (const { name, input } of requests) {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command?.conflictKeys) for (const held of command.conflictKeys(input)) names.add(held)
    else if (command) alone = true
  }
  return { alone, names: [...names] }
}
