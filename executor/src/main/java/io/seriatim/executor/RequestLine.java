package io.seriatim.executor;

import org.jspecify.annotations.Nullable;

/**
 * The queue of waiting requests of a {@link RequestBatcher}: an intrusive linked list, so that operations allocate no
 * memory and cannot fail. The batcher's lock guards it.
 */
final class RequestLine {
    @Nullable
    BatchRequest first;
    private @Nullable BatchRequest last;
    int size;

    void add(BatchRequest request) {
        BatchRequest previous = last;
        request.before = previous;
        if (previous == null) {
            first = request;
        } else {
            previous.after = request;
        }
        last = request;
        added(request);
    }

    void addFirst(BatchRequest request) {
        BatchRequest next = first;
        request.after = next;
        if (next == null) {
            last = request;
        } else {
            next.before = request;
        }
        first = request;
        added(request);
    }

    private void added(BatchRequest request) {
        request.isWaiting = true;
        size++;
    }

    boolean remove(BatchRequest request) {
        if (!request.isWaiting) {
            return false;
        }
        BatchRequest previous = request.before;
        BatchRequest next = request.after;
        if (previous == null) {
            first = next;
        } else {
            previous.after = next;
        }
        if (next == null) {
            last = previous;
        } else {
            next.before = previous;
        }
        request.before = null;
        request.after = null;
        request.isWaiting = false;
        size--;
        return true;
    }
}
