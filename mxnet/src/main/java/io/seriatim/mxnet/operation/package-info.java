/** The operations of MXNet that PaddlePaddle has not. */
@NullMarked
package io.seriatim.mxnet.operation;

import org.jspecify.annotations.NullMarked;
