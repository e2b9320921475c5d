package io.seriatim.tensor.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Defers signals to the calling thread while it runs code that uses memory of the heap as its stack. oneDNN's float32
 * products without packing ({@code gemm:jit} on x86-64) point the stack register to a workspace that they have
 * allocated. The handler of a signal that arrives meanwhile writes its frame, some kilobytes, below the workspace, into
 * what else lies on the heap. Flight recorders and profilers signal threads many times a second.
 *
 * <p>
 * Signals that the thread itself causes, such as those of the JVM's implicit checks, are not deferred. Only Linux on
 * x86-64 needs this: Windows suspends threads without their stacks, and the code is not there on other processors.
 */
final class SignalMask {
    /** Bytes of {@code sigset_t}. */
    private static final int SET_BYTES = 128;
    private static final int BLOCK = 0;
    private static final int SET = 2;
    /** The numbers of SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS. */
    private static final int[] OF_THE_THREAD_ITSELF = {4, 5, 6, 7, 8, 11, 31};

    private final MemorySegment function;
    private final MemorySegment deferred;
    private final ThreadLocal<MemorySegment> previous =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(SET_BYTES, Long.BYTES));

    private SignalMask(MemorySegment function) {
        this.function = function;
        this.deferred = deferred();
    }

    /** Returns the one of this process; null if no signal needs to be deferred. */
    static @Nullable SignalMask of(@Nullable NativePlatform platform) {
        return platform != null && platform.classifier().equals(NativePlatform.LINUX_X86_64)
                ? of(Linker.nativeLinker().defaultLookup())
                : null;
    }

    private static SignalMask of(SymbolLookup system) {
        return new SignalMask(system.find("pthread_sigmask").orElseGet(() -> system.findOrThrow("sigprocmask")));
    }

    private static MemorySegment deferred() {
        MemorySegment set = Arena.global().allocate(SET_BYTES, Long.BYTES);
        set.fill((byte) -1);
        long first = -1L;
        for (int signal : OF_THE_THREAD_ITSELF) {
            first &= ~(1L << (signal - 1));
        }
        set.set(ValueLayout.JAVA_LONG, 0, first);
        return set;
    }

    /** Calls a function while signals are deferred. */
    int within(Call call) {
        MemorySegment before = previous.get();
        change(BLOCK, deferred, before);
        try {
            return call.status();
        } finally {
            change(SET, before, MemorySegment.NULL);
        }
    }

    private void change(int how, MemorySegment set, MemorySegment before) {
        int error = Calls.mask(function, how, set.address(), before.address());
        if (error != 0) {
            throw new AssertionError("pthread_sigmask(" + how + ") failed with error " + error);
        }
    }

    /** A call of a C function that returns a status. */
    @FunctionalInterface
    interface Call {
        int status();
    }

    /** Returns the first 64 bits of the set of signals that are deferred now. */
    long current() {
        MemorySegment now = Arena.ofAuto().allocate(SET_BYTES, Long.BYTES);
        change(BLOCK, MemorySegment.NULL, now);
        return now.get(ValueLayout.JAVA_LONG, 0);
    }
}
