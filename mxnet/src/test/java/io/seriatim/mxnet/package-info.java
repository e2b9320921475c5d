/** Tests of models of Apache MXNet. */
@NullMarked
package io.seriatim.mxnet;

import org.jspecify.annotations.NullMarked;
