package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A network on spectrograms with learnt filters in the frequency domain: plans compute what the interpreter computes.
 */
class SignalsTest {
    private static final int SAMPLES = 512;
    private static final int LENGTH = 64;

    /** The logarithm of the power of frames in bands, after a product with a learnt complex filter. */
    private static Network network() {
        return Network.define(7, g -> {
            Value signal = g.data("x", DType.FLOAT32, 16, SAMPLES).wantGradient();
            Value frames = g.op("frame").in("X", signal).attr("frame_length", LENGTH).attr("hop_length", 16)
                    .attr("axis", -1).one("Out").transpose(0, 2, 1);
            Value spectrum = g.op("fft_r2c").in("X", frames).attr("axes", new long[]{2})
                    .attr("normalization", "ortho").attr("forward", true).attr("onesided", true).one("Out");
            Value real = g.op("real").in("X", spectrum).one("Out");
            Value imaginary = g.op("imag").in("X", spectrum).one("Out");
            Value filter = g.op("complex").in("X", g.linear(real, 33)).in("Y", g.linear(imaginary, 33)).one("Out");
            Value filtered = g.op("elementwise_mul").in("X", spectrum).in("Y", filter).one("Out");
            Value back = g.op("fft_c2r").in("X", filtered).attr("axes", new long[]{2}).attr("normalization", "ortho")
                    .attr("forward", false).attr("last_dim_size", (long) LENGTH).one("Out");
            Value sizes = g.op("abs").in("X", filtered).one("Out");
            Value loss = g.linear(sizes, 4).plus(g.linear(back, 4)).square().mean();
            g.minimize(loss, Sgd.of(0.05));
            return Outputs.of("loss", loss, "spectrum", spectrum, "back", back);
        });
    }

    private static final Network NETWORK = network();
    private static final Expected EXPECTED = Expected.of("signals", NETWORK.startup(), NETWORK.main(),
            Expected.names(NETWORK), List.of(Map.of("x", Bits.normal(0, 16, SAMPLES)),
                    Map.of("x", Bits.normal(1, 16, SAMPLES)), Map.of("x", Bits.normal(1, 16, SAMPLES))));

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void plansComputeWhatTheInterpreterComputes(int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            EXPECTED.check(executor, threads + " threads");
        }
    }

    @Test
    void theLossFalls() {
        String loss = Expected.names(NETWORK).getFirst();
        Tensor before = Objects.requireNonNull(EXPECTED.results().get(1).get(loss));
        Tensor after = Objects.requireNonNull(EXPECTED.results().get(2).get(loss));
        assertTrue(after.getDouble() < before.getDouble(), before.getDouble() + " and then " + after.getDouble());
    }
}
