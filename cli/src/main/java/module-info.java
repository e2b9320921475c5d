/**
 * The command line. Other jars add subcommands of {@code seriatim bench} through
 * {@link io.seriatim.cli.spi.BenchCommands}.
 */
module io.seriatim.cli {
    requires info.picocli;
    requires io.seriatim.cluster;
    requires io.seriatim.engine;
    requires io.seriatim.executor;
    requires io.seriatim.graph;
    requires io.seriatim.tensor;
    requires io.seriatim.train;
    requires java.management;
    requires static org.jspecify;

    exports io.seriatim.cli.spi;
    exports io.seriatim.cli.text;

    opens io.seriatim.cli to info.picocli;
    opens io.seriatim.cli.convert to info.picocli;
    opens io.seriatim.cli.demo to info.picocli;
    opens io.seriatim.cli.demo.devices to info.picocli;
    opens io.seriatim.cli.doctor to info.picocli;
    opens io.seriatim.cli.quantize to info.picocli;
    opens io.seriatim.cli.run to info.picocli;
    opens io.seriatim.cli.setup to info.picocli;
    opens io.seriatim.cli.show to info.picocli;
    opens io.seriatim.cli.train to info.picocli;

    uses io.seriatim.cli.spi.BenchCommands;
}
