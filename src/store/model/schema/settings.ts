/** Table of facts about the installation. */

export interface SettingRow {
  key: string
  value: string
}
