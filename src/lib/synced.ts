/** Forces a file or the entries of a folder to the disk. */
import { open } from 'node:fs/promises'

export async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
