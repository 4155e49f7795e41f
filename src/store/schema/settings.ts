/** Facts about the installation, as a table. */

export interface SettingRow {
  key: string
  value: string
}
