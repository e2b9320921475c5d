package io.seriatim.tensor.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** While a call runs, all signals wait but those that the thread itself causes. */
class SignalMaskTest {
    private static final int SIGUSR2 = 12;
    private static final int SIGPROF = 27;
    private static final int SIGSEGV = 11;
    private static final int SIGFPE = 8;

    private static SignalMask mask() {
        NativePlatform platform = NativePlatform.current();
        assumeTrue(platform != null && platform.classifier().equals(NativePlatform.LINUX_X86_64),
                "elsewhere no signal needs to wait");
        return Objects.requireNonNull(SignalMask.of(platform));
    }

    private static boolean contains(long set, int signal) {
        return (set >>> (signal - 1) & 1) != 0;
    }

    @Test
    void signalsWaitDuringTheCallOnly() {
        SignalMask mask = mask();
        long before = mask.current();
        long[] within = new long[1];
        assertEquals(7, mask.within(() -> {
            within[0] = mask.current();
            return 7;
        }));
        assertEquals(List.of(true, true, false, false), List.of(contains(within[0], SIGUSR2),
                contains(within[0], SIGPROF), contains(within[0], SIGSEGV), contains(within[0], SIGFPE)));
        assertEquals(before, mask.current());
    }

    @Test
    void aFailureEndsTheWaitToo() {
        SignalMask mask = mask();
        long before = mask.current();
        assertThrows(IllegalStateException.class, () -> mask.within(() -> {
            throw new IllegalStateException("fails");
        }));
        assertEquals(before, mask.current());
    }

    @Test
    void otherPlatformsNeedNone() {
        assertNull(SignalMask.of(NativePlatform.of("Windows 11", "amd64")));
        assertNull(SignalMask.of(NativePlatform.of("Linux", "aarch64")));
        assertNull(SignalMask.of(null));
    }
}
