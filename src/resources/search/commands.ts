/** The one thing that searching writes. */
import { command } from '../../store/command.ts'
import type { NewIndexBlock } from '../../store/search-index.ts'

export const sealCommands = {
  /** False when the emails of its range are not those of the segment, or no longer. */
  sealSegment: command<NewIndexBlock, boolean>((tx, segment) => tx.indexBlocks.seal(segment)),
}
