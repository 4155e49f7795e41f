/**
 * Reads a setting that names a PEM file of certificate authorities. The file is parsed while the
 * configuration is read, so that an invalid file prevents the start.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { optionalText, type Setting, SettingFault } from './setting.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

export function authoritiesFile(doc: string): Setting<string | null> {
  const { read, ...setting } = optionalText(doc)
  return {
    ...setting,
    read(raw) {
      const path = read(raw)
      if (path !== null) lookInto(path)
      return path
    },
  }
}

/** @throws SettingFault */
function lookInto(path: string): void {
  const certificates = contentOf(path).match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new SettingFault(`names ${path}, which contains no PEM certificate`)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new SettingFault(
      `names ${path}, which contains an invalid certificate (${(error as Error).message})`,
    )
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingFault(`names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
