/**
 * Limits the commands of an SMTP connection: closes it after many errors and after many commands without a
 * message, and carries out pipelined commands in turns of the client networks. Called by
 * `smtp-connection.ts`.
 */
import type { FairTurns } from '../../lib/fair-turns.ts'

/** The parts of a connection that are changed. */
interface CommandRunner {
  send(code: number, text: string | string[], context?: unknown): void
  /** Carries out a command. `done` takes the next one, if that has arrived already. */
  _onCommand(command: Buffer, done?: () => void): void
}

/** 5xx replies per connection, after which it is closed. */
const ERRORS_MAX = 20
/** Commands without a message, after which a connection is closed. A transaction has about a hundred. */
const COMMANDS_MAX = 1_000
/** Pipelined commands that are carried out before other connections get their turn. */
const COMMANDS_PER_TURN = 10

/** Closes a connection after `ERRORS_MAX` permanent errors. */
export function endAfterErrors(connection: CommandRunner): void {
  const send = connection.send.bind(connection)
  let count = 0
  connection.send = (code, text, context) => {
    send(code, text, context)
    if (code >= 500 && ++count === ERRORS_MAX) connection.send(421, '4.7.0 Too many errors')
  }
}

/**
 * Closes a connection whose commands lead to no message, and lets others have their turn between commands.
 * @param network client network of the connection
 * @returns a function to be called for each message
 */
export function endAfterCommands(connection: CommandRunner, network: string, turns: FairTurns): () => void {
  const carryOut = connection._onCommand.bind(connection)
  let count = 0
  connection._onCommand = (command, done) => {
    if (++count > COMMANDS_MAX) return connection.send(421, '4.7.0 Too many commands without a message')
    const isLastOfTurn = done !== undefined && count % COMMANDS_PER_TURN === 0
    return carryOut(command, isLastOfTurn ? () => void turns.run(network, 1, done) : done)
  }
  return () => {
    count = 0
  }
}
