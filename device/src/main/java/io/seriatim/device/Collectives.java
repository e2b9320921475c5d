package io.seriatim.device;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Collective communication between several places of one process, as operations on their streams. Each call lists all
 * parts in the order of their ranks and returns at once: work that is launched on a part's stream afterwards sees the
 * result. Reductions run in the order of the ranks, so all ranks get bitwise equal results, which are the same in every
 * run.
 *
 * <p>
 * A reduction is split into one chunk per rank: rank r fetches chunk r of all others and reduces it, and the others
 * fetch the result, so that every rank does an equal share of the work.
 */
public final class Collectives {
    /**
     * The input and the output of one rank.
     *
     * @param stream
     *            the stream that runs the rank's operations
     * @param input
     *            the bytes that the rank contributes; may be the same bytes as the output
     * @param output
     *            the bytes that receive the result
     */
    public record Part(Stream stream, Access input, Access output) {
        /**
         * Creates a part whose input and output are the same buffer.
         *
         * @param stream
         *            the stream that runs the rank's operations
         * @param buffer
         *            the buffer
         * @return the part
         */
        public static Part inPlace(Stream stream, Buffer buffer) {
            return new Part(stream, Access.read(buffer), Access.write(buffer));
        }

        private Buffer fetched(long bytes) {
            return stream.device().allocate(bytes, stream);
        }
    }

    private Collectives() {
    }

    /**
     * All-reduce: every rank gets the reduction of all inputs.
     *
     * @param parts
     *            one part per rank; all inputs and outputs have the same size
     * @param element
     *            the element type
     * @param how
     *            the reduction
     */
    public static void allReduce(List<Part> parts, Element element, Reduction how) {
        long bytes = check("all-reduce", parts, element.bytes());
        for (Part part : parts) {
            require(part.output().bytes() == bytes, "all-reduce", "inputs and outputs must be of one size", parts);
        }
        int ranks = parts.size();
        long share = (bytes / element.bytes() + ranks - 1) / ranks * element.bytes();
        List<Event> given = record(parts);
        List<Buffer> reduced = new ArrayList<>();
        List<Event> ready = new ArrayList<>();
        for (int r = 0; r < ranks; r++) {
            Part part = parts.get(r);
            long from = Math.min(bytes, r * share);
            long length = Math.min(bytes, from + share) - from;
            Buffer chunk = part.fetched(length);
            reduceInto(parts, given, part, chunk, from, length, element, how, "all-reduce");
            reduced.add(chunk);
            ready.add(part.stream().record());
        }
        // An output must not be written while another rank still reads an input in the same memory.
        for (Part part : parts) {
            ready.forEach(part.stream()::waitFor);
            for (int r = 0; r < ranks; r++) {
                Buffer chunk = reduced.get(r);
                if (chunk.bytes() > 0) {
                    part.stream().copy("all-reduce gathers", Access.read(chunk),
                            within(part.output(), r * share, chunk.bytes(), true));
                }
            }
        }
        reduced.forEach(Buffer::close);
    }

    /**
     * Reduce-scatter: every rank gets the reduction of its share of all inputs.
     *
     * @param parts
     *            one part per rank; all inputs have the same size, and each output has that size divided by the number
     *            of ranks
     * @param element
     *            the element type
     * @param how
     *            the reduction
     */
    public static void reduceScatter(List<Part> parts, Element element, Reduction how) {
        long bytes = check("reduce-scatter", parts, element.bytes());
        long share = bytes / parts.size();
        for (Part part : parts) {
            require(share * parts.size() == bytes && share % element.bytes() == 0 && part.output().bytes() == share,
                    "reduce-scatter",
                    "an input must be of as many equal shares of whole elements as there are ranks, and an output "
                            + "of one share",
                    parts);
        }
        List<Event> given = record(parts);
        List<Buffer> chunks = new ArrayList<>();
        List<Event> ready = new ArrayList<>();
        for (int r = 0; r < parts.size(); r++) {
            Buffer chunk = parts.get(r).fetched(share);
            reduceInto(parts, given, parts.get(r), chunk, r * share, share, element, how, "reduce-scatter");
            chunks.add(chunk);
            ready.add(parts.get(r).stream().record());
        }
        for (int r = 0; r < parts.size(); r++) {
            Part part = parts.get(r);
            ready.forEach(part.stream()::waitFor);
            part.stream().copy("reduce-scatter keeps", Access.read(chunks.get(r)),
                    within(part.output(), 0, share, true));
        }
        chunks.forEach(Buffer::close);
    }

    private static void reduceInto(List<Part> parts, List<Event> given, Part part, Buffer chunk, long from, long length,
            Element element,
            Reduction how, String name) {
        if (length == 0) {
            return;
        }
        given.forEach(part.stream()::waitFor);
        part.stream().copy(name + " begins", within(parts.getFirst().input(), from, length, false),
                Access.write(chunk));
        for (Part other : parts.subList(1, parts.size())) {
            Buffer fetched = part.fetched(length);
            part.stream().copy(name + " fetches", within(other.input(), from, length, false), Access.write(fetched));
            part.stream().launch(name + " reduces", List.of(Access.read(fetched), Access.write(chunk)), () -> {
                for (long at = 0; at < length; at += element.bytes()) {
                    element.reduce(how, chunk.segment(), at, fetched.segment(), at);
                }
            });
            fetched.close();
        }
    }

    /**
     * Broadcast: every rank gets the input of one rank.
     *
     * @param parts
     *            one part per rank; all outputs have the size of the root's input
     * @param root
     *            the rank whose input is sent
     */
    public static void broadcast(List<Part> parts, int root) {
        check("broadcast", parts, 1);
        require(root >= 0 && root < parts.size(), "broadcast",
                "the root must be from 0 to " + (parts.size() - 1) + ", but is " + root,
                parts);
        Access input = parts.get(root).input();
        List<Event> given = record(parts);
        List<Event> taken = new ArrayList<>();
        for (int r = 0; r < parts.size(); r++) {
            Part part = parts.get(r);
            require(part.output().bytes() == input.bytes(), "broadcast",
                    "outputs must have the size of the root's input", parts);
            if (r != root || part.output().buffer() != input.buffer()) {
                part.stream().waitFor(given.get(root));
                part.stream().copy("broadcast", input, part.output());
                taken.add(part.stream().record());
            }
        }
        taken.forEach(parts.get(root).stream()::waitFor);
    }

    /**
     * All-gather: every rank gets the concatenation of all inputs.
     *
     * @param parts
     *            one part per rank; all inputs have the same size, and each output has that size times the number of
     *            ranks
     */
    public static void allGather(List<Part> parts) {
        long bytes = check("all-gather", parts, 1);
        for (Part part : parts) {
            require(part.output().bytes() == bytes * parts.size(), "all-gather",
                    "an output must have the size of all inputs", parts);
        }
        List<Event> given = record(parts);
        List<Event> taken = new ArrayList<>();
        for (Part part : parts) {
            given.forEach(part.stream()::waitFor);
            for (int r = 0; r < parts.size(); r++) {
                part.stream().copy("all-gather", parts.get(r).input(), within(part.output(), r * bytes, bytes, true));
            }
            taken.add(part.stream().record());
        }
        for (Part part : parts) {
            taken.forEach(part.stream()::waitFor);
        }
    }

    /**
     * Sends bytes from one place to another.
     *
     * @param from
     *            the sender's stream; the bytes are read after the work launched on it before
     * @param source
     *            the bytes to read
     * @param to
     *            the receiver's stream; work launched on it afterwards sees the bytes
     * @param target
     *            the bytes to write, of the same length
     */
    public static void send(Stream from, Access source, Stream to, Access target) {
        to.waitFor(from.record());
        to.copy("send and receive", source, target);
        from.waitFor(to.record());
    }

    private static List<Event> record(List<Part> parts) {
        return parts.stream().map(part -> part.stream().record()).toList();
    }

    private static Access within(Access whole, long from, long bytes, boolean write) {
        return new Access(whole.buffer(), whole.offset() + from, bytes, write);
    }

    /** Validates the parts; returns the size of the inputs. */
    private static long check(String name, List<Part> parts, int elementBytes) {
        require(!parts.isEmpty(), name, "there must be at least one rank", parts);
        Set<Stream> streams = new HashSet<>();
        long bytes = parts.getFirst().input().bytes();
        for (Part part : parts) {
            require(streams.add(part.stream()), name, "every rank must have a stream of its own", parts);
            require(!part.input().write() && part.output().write(), name, "inputs must be reads and outputs writes",
                    parts);
            boolean gives = name.equals("broadcast") || part.input().bytes() == bytes;
            require(gives && part.input().bytes() % elementBytes == 0, name,
                    "inputs must be of one size, in whole elements of " + elementBytes + " bytes", parts);
        }
        return bytes;
    }

    private static void require(boolean holds, String name, String rule, List<Part> parts) {
        if (!holds) {
            List<String> sizes = parts.stream()
                    .map(part -> part.stream().device().place() + "/" + part.stream().name() + " "
                            + part.input().bytes() + " to " + part.output().bytes())
                    .toList();
            throw new IllegalArgumentException(
                    name + ": " + rule + "; the ranks with the sizes of their inputs and outputs in bytes are "
                            + sizes);
        }
    }
}
