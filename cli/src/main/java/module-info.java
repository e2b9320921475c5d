/**
 * The command line. Others join its measurements through {@link io.seriatim.cli.bench.EnginePeer} and
 * {@link io.seriatim.cli.bench.ServePeer}.
 */
module io.seriatim.cli {
    requires info.picocli;
    requires io.seriatim.engine;
    requires io.seriatim.executor;
    requires transitive io.seriatim.graph;
    requires transitive io.seriatim.tensor;
    requires io.seriatim.train;
    requires jdk.management;
    requires static transitive org.jspecify;

    exports io.seriatim.cli.bench;

    opens io.seriatim.cli to info.picocli;
    opens io.seriatim.cli.bench to info.picocli;
    opens io.seriatim.cli.bench.executor to info.picocli;
    opens io.seriatim.cli.bench.kernels to info.picocli;
    opens io.seriatim.cli.bench.serve to info.picocli;
    opens io.seriatim.cli.bench.train to info.picocli;
    opens io.seriatim.cli.demo to info.picocli;
    opens io.seriatim.cli.demo.devices to info.picocli;
    opens io.seriatim.cli.doctor to info.picocli;
    opens io.seriatim.cli.run to info.picocli;
    opens io.seriatim.cli.show to info.picocli;
    opens io.seriatim.cli.train to info.picocli;

    uses io.seriatim.cli.bench.EnginePeer;
    uses io.seriatim.cli.bench.ServePeer;
}
