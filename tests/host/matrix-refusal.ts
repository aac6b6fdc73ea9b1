import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describeConfig } from "./host-config.ts"
import { HostProcess } from "./host-process.ts"
import { Home, seedPluginDependency } from "./home.ts"
import { readHttp } from "./http-client.ts"
import { listOf, parseJson, recordOf, textOf } from "./json.ts"
import { pluginByFile, withOptions } from "./plugin.ts"
import { MATRIX_SETUP } from "./matrix-scenarios.ts"

/**
 * What a host has against the scenarios' configuration, `undefined` when nothing. Such a host answers every request with
 * 500, so that the scenarios themselves cannot say more.
 */
export async function findConfigRefusal(file: string, version: string): Promise<string | undefined> {
  const home = await Home.create()
  try {
    writeConfig(home, version)
    const [host, url] = await HostProcess.start({ file, version }, home, home.env)
    try {
      const address = new URL("/config", url)
      address.searchParams.set("directory", home.project)
      const { status, text } = await readHttp({ method: "GET", url: address.href, timeoutMs: 30_000 })
      return status === 200 ? undefined : describeRefusal(text)
    } finally {
      await host.kill("SIGTERM")
    }
  } catch {
    return undefined
  } finally {
    home.remove()
  }
}

function writeConfig(home: Home, version: string): void {
  const { providers = {}, pluginOptions, config: extra = {} } = MATRIX_SETUP
  const plugins = [withOptions(pluginByFile(), pluginOptions)]
  const config = describeConfig({ baseURL: "http://127.0.0.1:1/v1", providers, model: "chat/large", plugins, extra })
  writeFileSync(join(home.project, "opencode.json"), JSON.stringify(config))
  seedPluginDependency(home.path("config", "opencode"), version)
}

/** `{ name, data: { issues: [{ path, message }] } }` */
function describeRefusal(body: string): string {
  const { name, data } = recordOf(parseJson(body))
  const issues = listOf(recordOf(data)["issues"]).map(recordOf)
  const reasons = issues.map(({ path, message }) => `${listOf(path).join(".")}: ${textOf(message)}`)
  return [textOf(name) || "an error without a name", ...reasons].join(": ")
}
