package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BufferChangesTest {
    @Test
    void whoIsHandedTheBytesMayWriteThemForGood() {
        try (Buffer segment = Devices.system().host().allocate(8);
                Buffer address = Devices.system().host().allocate(8)) {
            assertEquals(0, segment.changes());
            segment.segment();
            assertEquals(Buffer.UNKNOWN, segment.changes());
            segment.changed();
            assertEquals(Buffer.UNKNOWN, segment.changes());
            address.address();
            assertEquals(Buffer.UNKNOWN, address.changes());
        }
    }

    @Test
    void declaredUsesStayKnown() {
        Buffer buffer = Devices.system().host().allocate(8);
        Buffer declared = buffer.declared();
        declared.segment().set(ValueLayout.JAVA_LONG, 0, 7);
        declared.address();
        assertEquals(0, buffer.changes());
        declared.changed();
        buffer.changed();
        assertEquals(2, buffer.changes());
        assertEquals(2, declared.declared().changes());
        assertEquals(7, buffer.segment().get(ValueLayout.JAVA_LONG, 0));
        assertEquals(Buffer.UNKNOWN, declared.changes());
        declared.close();
        assertFalse(buffer.isOpen());
    }

    @Test
    void aCopyOfAStreamCounts() throws Exception {
        try (Buffer from = Devices.system().host().allocate(8); Buffer to = Devices.system().host().allocate(8)) {
            Stream stream = Devices.system().host().defaultStream();
            stream.copy("copy", new Access(from, 0, 8, false), new Access(to, 0, 8, true));
            stream.record().synchronize();
            assertEquals(0, from.changes());
            assertEquals(1, to.changes());
        }
    }

    @Test
    void changesOfManyThreadsAreAllCounted() throws InterruptedException {
        try (Buffer buffer = Devices.system().host().allocate(8)) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        buffer.declared().changed();
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(40_000, buffer.changes());
        }
    }
}
