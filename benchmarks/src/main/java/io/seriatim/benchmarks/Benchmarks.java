package io.seriatim.benchmarks;

import io.seriatim.benchmarks.cluster.BenchClusterCommand;
import io.seriatim.benchmarks.engine.BenchEngineCommand;
import io.seriatim.benchmarks.executor.BenchExecutorCommand;
import io.seriatim.benchmarks.kernels.BenchKernelsCommand;
import io.seriatim.benchmarks.metg.BenchMetgCommand;
import io.seriatim.benchmarks.models.BenchModelsCommand;
import io.seriatim.benchmarks.serve.BenchServeCommand;
import io.seriatim.benchmarks.train.BenchTrainCommand;
import io.seriatim.cli.spi.BenchCommands;
import java.util.List;

/** Provides the subcommands of {@code seriatim bench}. */
public final class Benchmarks implements BenchCommands {
    /** Created by the service loader. */
    public Benchmarks() {
        // It has no state.
    }

    @Override
    public List<Object> commands() {
        return List.of(new BenchClusterCommand(), new BenchEngineCommand(), new BenchExecutorCommand(),
                new BenchKernelsCommand(),
                new BenchMetgCommand(), new BenchModelsCommand(), new BenchServeCommand(), new BenchTrainCommand());
    }
}
