package io.seriatim.tensor.onednn;

/**
 * The library has no memory descriptor for an operand: its type is not one of the library's, or its elements overlap.
 * {@link DnnlKernel#of} then gives no kernel, and another provider is asked.
 */
final class NoDescriptorException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NoDescriptorException(String message) {
        super(message, null, false, false);
    }
}
