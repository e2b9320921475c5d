package io.seriatim.executor;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Operations by which tests observe runs. Both copy X to Out and call the hook registered for their attribute
 * {@code key}, if any: {@code test_probe} from a Java function, {@code test_kernel} from a kernel.
 */
public final class Probes implements Operations.Provider {
    public static final String CALL = "test_probe";
    static final String KERNEL = "test_kernel";

    /** Called by the service loader. */
    public Probes() {
        // All state is static.
    }

    private static final Map<String, Hook> HOOKS = new ConcurrentHashMap<>();
    private static final Map<String, Runnable> INFERENCE_HOOKS = new ConcurrentHashMap<>();
    private static final Map<String, AtomicInteger> INFERRED = new ConcurrentHashMap<>();

    /** An action that runs when a probe runs. */
    @FunctionalInterface
    public interface Hook {
        void run(Tensor value) throws Exception;
    }

    /** The computation of {@link #KERNEL}. */
    record Watched(String key) implements Computation {
        @Override
        public String operation() {
            return KERNEL;
        }

        @Override
        public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
            return new TensorSpec[0];
        }
    }

    private record WatchedKernel(String key) implements Kernel {
        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            try {
                call(key, Objects.requireNonNull(arguments[0]));
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public String provider() {
            return "test";
        }
    }

    @Override
    public void register(Operations registry) {
        Kernels.system().register("test", "cpu", KERNEL, Watched.class, EnumSet.allOf(DType.class),
                (computation, _) -> new WatchedKernel(computation.key()));
        define(CALL,
                (l, value) -> l.call(CALL,
                        (in, _) -> call(l.attrs().getText("key"), Objects.requireNonNull(in.getFirst())),
                        List.of(value), List.of()))
                .register(registry);
        define(KERNEL, (l, value) -> l.into(new Watched(l.attrs().getText("key")), List.of(value), List.of()))
                .register(registry);
    }

    private static Operation.Builder define(String type, BiConsumer<Lowering, Operand> watch) {
        return Operation.define(type).in("X").out("Out").attr("key", "").infer(inference -> {
            if (inference.isForRun()) {
                String key = inference.attrs().getText("key");
                INFERRED.computeIfAbsent(key, _ -> new AtomicInteger()).incrementAndGet();
                INFERENCE_HOOKS.getOrDefault(key, () -> {
                }).run();
            }
            inference.same("X", "Out");
        }).lower(l -> watch.accept(l, l.mutable("X", "Out")));
    }

    private static void call(String key, Tensor value) throws Exception {
        Hook hook = HOOKS.get(key);
        if (hook != null) {
            hook.run(value);
        }
    }

    /** Registers the hook of probes with a key. */
    public static void on(String key, Hook hook) {
        HOOKS.put(key, hook);
    }

    /** Registers a hook that runs when the shapes of a probe with a key are inferred for a run. */
    static void onInference(String key, Runnable hook) {
        INFERENCE_HOOKS.put(key, hook);
    }

    public static void off(String key) {
        HOOKS.remove(key);
    }

    public static void allOff() {
        HOOKS.clear();
        INFERENCE_HOOKS.clear();
        INFERRED.clear();
    }

    /**
     * Returns how many times the shapes of a probe were inferred for a run. A plan infers them once for each set of fed
     * shapes.
     */
    static int inferred(String key) {
        AtomicInteger count = INFERRED.get(key);
        return count == null ? 0 : count.get();
    }

    /** Returns a probe that updates a variable in place. */
    public static OpDesc of(String type, String variable, String key) {
        return OpDesc.of(type).in("X", variable).out("Out", variable).attr("key", key).build();
    }

    /**
     * Returns a copy of a program with a probe before one of its operations. The probe updates an input of that
     * operation in place.
     */
    public static Program before(Program program, int index, String type, String key, String... callstack) {
        Program copy = program.copy();
        Block block = copy.global();
        OpDesc op = block.ops().get(index);
        Set<String> constants = constants(block.ops().subList(0, index));
        List<String> there = op.inputNames().stream().filter(name -> isDense(block, name) && !constants.contains(name))
                .toList();
        String variable = there.isEmpty() ? "x" : there.getFirst();
        OpDesc probe = of(type, variable, key);
        block.add(index, callstack.length == 0 ? probe : probe.with("op_callstack", callstack));
        return copy;
    }

    /**
     * Returns the variables that depend on neither feeds nor the scope. Plans compute them at compile time, so a probe
     * of them would not run.
     */
    private static Set<String> constants(List<OpDesc> ops) {
        Set<String> constants = new HashSet<>();
        for (OpDesc op : ops) {
            if (constants.containsAll(op.inputNames())) {
                constants.addAll(op.outputNames());
            } else {
                op.outputNames().forEach(constants::remove);
            }
        }
        return constants;
    }

    private static boolean isDense(Block block, String name) {
        var desc = block.find(name);
        return desc != null && desc.type().tensorType() != null;
    }
}
