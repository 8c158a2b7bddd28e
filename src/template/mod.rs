//! One minijinja set-up for recipes and for rendering.
