package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PreparedKernelsTest {
    private final Map<Computation, Integer> made = new ConcurrentHashMap<>();
    private final PreparedKernels kernels = new PreparedKernels(counting(), 100);

    private Kernels counting() {
        Kernels portable = Kernels.portable();
        return new Kernels().register("counting", "cpu", "unary", Unary.class, List.of(DType.FLOAT32), (computation, arguments) -> {
            made.merge(computation, 1, Integer::sum);
            if (computation.alpha() < 0) {
                throw new IllegalStateException("no kernel for " + computation.alpha());
            }
            return portable.prepare(computation, Place.CPU, arguments);
        });
    }

    private static PreparedKernels.Request request(Computation computation) {
        TensorSpec spec = TensorSpec.of(DType.FLOAT32, 4);
        List<@Nullable TensorSpec> arguments = new ArrayList<>();
        arguments.add(spec);
        arguments.add(spec);
        return new PreparedKernels.Request(computation, Place.CPU, arguments);
    }

    private Kernel get(PreparedKernels.Request request) {
        return kernels.get(request.computation(), request.place(), request.arguments().toArray(TensorSpec[]::new));
    }

    private static Unary linear(double alpha) {
        return new Unary(Unary.Function.LINEAR, (float) alpha, 0);
    }

    @Test
    void eachIsMadeOnceHoweverOftenItIsAskedFor() {
        List<PreparedKernels.Request> requests = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            requests.add(request(linear(i % 20)));
        }
        kernels.makeAhead(requests);
        assertEquals(20, made.size());
        for (PreparedKernels.Request request : requests) {
            assertSame(get(request), get(request));
        }
        kernels.makeAhead(requests);
        assertTrue(made.values().stream().allMatch(count -> count == 1), made::toString);
    }

    @Test
    void whatCannotBeMadeIsToldOfWhenItIsNeeded() {
        List<PreparedKernels.Request> requests = List.of(request(linear(1)), request(linear(-1)), request(new Fill(1)), request(linear(2)));
        kernels.makeAhead(requests);
        assertEquals(1, made.get(linear(2)));
        assertEquals(1, made.get(linear(-1)));
        IllegalStateException failed = assertThrows(IllegalStateException.class, () -> get(requests.get(1)));
        assertEquals("no kernel for -1.0", failed.getMessage());
        assertThrows(NoKernelException.class, () -> get(requests.get(2)));
        assertEquals(1, made.get(linear(1)));
    }
}
