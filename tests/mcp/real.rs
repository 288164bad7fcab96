//! Two servers of the protocol's own authors.

#[test]
fn probe() {
    use runvil::harness::mcp::*;
    use runvil::harness::unit::Unit;
    use runvil::harness::*;
    use runvil::prompt::Dialect;
    let bin = std::path::Path::new("/tmp/mcpnpm/node_modules/.bin");
    for (server, args) in [
        ("mcp-server-filesystem", vec!["/tmp/mcpnpm"]),
        ("mcp-server-everything", vec![]),
    ] {
        let mut config = McpConfig::new("acme", "x", bin.join(server));
        config.args = args.into_iter().map(Into::into).collect();
        config.env = inherited(|name| std::env::var_os(name));
        let unit = McpUnit::new(config, Log::new(|line| println!("{line}"))).unwrap();
        println!("{:?}", unit.ready(&CancelToken::default()));
        for t in unit.tools(Dialect::Runvil) {
            println!("{} {} {}", t.name, t.structured, t.parameters.to_json());
        }
    }
}
