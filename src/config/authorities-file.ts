/**
 * A file of certificate authorities, PEM. It is looked into when the configuration is read, so that a wrong
 * one stops the start.
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
  if (certificates.length === 0)
    throw new SettingFault(`names ${path}, in which there is no certificate in PEM`)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new SettingFault(
      `names ${path}, which has a certificate that cannot be read (${(error as Error).message})`,
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
